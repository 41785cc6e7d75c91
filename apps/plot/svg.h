#pragma once

#include <string>

namespace farfield::plot {

/// Text that XML may hold: what is not UTF-8, as a name of a file may be, and control characters
/// become U+FFFD.
std::string xml_text(std::string text);

/// Text as it stands in XML and HTML, between tags and in quotes.
std::string escaped(const std::string& text);

/// What a picture shows, for those who hear it or point at it.
struct SvgText {
  std::string title;
  std::string description;
  bool keeps_scale = false;  ///< colours, greys apart, stand for values and stay
};

/// An SVG of gnuplot's made fit to stand with others on one page: it says what it shows, its ids
/// are its own (a hash of its content goes before each), and where its reader prefers a dark
/// scheme it has a dark background and colours that can be seen on it. A viewer that knows no
/// style sheets shows the colours for white.
std::string finished_svg(const std::string& drawn, const SvgText& text);

/// An SVG document as an element of a page: without its XML declaration and document type.
std::string inlined(const std::string& svg);

/// "#rrggbb", meant for white, as it is shown on a dark background (#16181c): greys are turned
/// round, other colours mixed with white as far as text of that colour needs (contrast 4.5 of WCAG
/// 2, section 1.4.3).
std::string on_dark(const std::string& colour);

}  // namespace farfield::plot
