#pragma once

#include <string>

namespace farfield::plot {

/// Text that XML may hold: bytes that are not UTF-8, which a file's name may contain, and control
/// characters become U+FFFD.
std::string xml_text(std::string text);

/// Text as it stands in XML and HTML, between tags and in quotes.
std::string escaped(const std::string& text);

/// The description of a picture, for screen readers and tooltips.
struct SvgText {
  std::string title;
  std::string description;
  bool keeps_scale = false;  ///< colours, greys apart, stand for values and stay
};

/// Prepares an SVG of gnuplot for a page with others: adds a description, makes its ids unique (a
/// hash of the content as prefix), and adds a dark background with suitable colours for readers who
/// prefer a dark scheme. A viewer without style sheets shows the colours for white.
std::string finished_svg(const std::string& drawn, const SvgText& text);

/// An SVG document as an element of a page: without its XML declaration and document type.
std::string inlined(const std::string& svg);

/// "#rrggbb", meant for white, as it is shown on a dark background (#16181c): greys are turned
/// round, other colours mixed with white as far as text of that colour needs (contrast 4.5 of WCAG
/// 2, section 1.4.3).
std::string on_dark(const std::string& colour);

}  // namespace farfield::plot
