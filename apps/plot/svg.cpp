#include "apps/plot/svg.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <utility>

#include "apps/plot/compact_svg.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"

namespace farfield::plot {
namespace {

struct Rgb {
  double red = 0, green = 0, blue = 0;  // 0 .. 255
};

constexpr Rgb kDark = {22, 24, 28}, kLight = {232, 232, 232};

std::string hex_of(const Rgb& c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(std::lround(c.red)) & 255,
                static_cast<unsigned>(std::lround(c.green)) & 255,
                static_cast<unsigned>(std::lround(c.blue)) & 255);
  return text;
}

Rgb rgb_of(const std::string& hex) {
  unsigned red = 0, green = 0, blue = 0;
  std::sscanf(hex.c_str(), "#%2x%2x%2x", &red, &green, &blue);
  return {static_cast<double>(red), static_cast<double>(green), static_cast<double>(blue)};
}

Rgb mixed(const Rgb& a, const Rgb& b, double share) {
  const auto mix = [&](double x, double y) { return x * (1 - share) + y * share; };
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

// Relative luminance of sRGB, 0 to 1 (WCAG 2).
double luminance(const Rgb& c) {
  const auto linear = [](double x) {
    x /= 255;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Calls change(tag) with each tag, from '<' to '>'; what stands between them is left alone.
std::string with_tags(const std::string& svg, const std::function<void(std::string&)>& change) {
  std::string result;
  for (size_t at = 0; at < svg.size();) {
    const size_t begin = svg.find('<', at);
    const size_t end = begin == std::string::npos ? begin : svg.find('>', begin);
    if (end == std::string::npos) return result + svg.substr(at);
    std::string tag = svg.substr(begin, end + 1 - begin);
    change(tag);
    result += svg.substr(at, begin - at) + tag;
    at = end + 1;
  }
  return result;
}

using Colours = std::set<std::pair<std::string, std::string>>;  // of which attribute, "#rrggbb"

bool is_grey(const Rgb& c) { return c.red == c.green && c.green == c.blue; }

// "#rrggbb" for "black", "rgb( 68,  68,  68)" and "#FFFFFF"; a text that is no colour stays
// unchanged.
std::string normal_colour(std::string text) {
  if (text == "black") return "#000000";
  int red = 0, green = 0, blue = 0;
  if (std::sscanf(text.c_str(), "rgb(%d ,%d ,%d )", &red, &green, &blue) == 3)
    return hex_of(
        {static_cast<double>(red), static_cast<double>(green), static_cast<double>(blue)});
  if (text.size() == 7 && text[0] == '#')
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Colours of a tag in one form, and noted.
void normalise_colours(std::string& tag, Colours& colours) {
  for (const std::string name : {"fill", "stroke", "color"}) {
    const size_t at = tag.find(' ' + name);
    if (at == std::string::npos) continue;
    const size_t equals = tag.find_first_not_of(' ', at + 1 + name.size());
    if (equals == std::string::npos || tag[equals] != '=') continue;  // of a longer name
    const size_t open = tag.find_first_of("'\"", equals);
    const size_t close = open == std::string::npos ? open : tag.find(tag[open], open + 1);
    if (close == std::string::npos) continue;
    const std::string colour = normal_colour(tag.substr(open + 1, close - open - 1));
    tag.replace(open + 1, close - open - 1, colour);
    if (colour[0] == '#') colours.emplace(name, colour);
  }
}

// Ids that are referred to are made this picture's own, the others go.
void claim_ids(std::string& tag, const std::string& prefix) {
  for (const char quote : {'"', '\''}) {
    const std::string open = concat(" id=", quote);
    const size_t at = tag.find(open);
    if (at == std::string::npos) continue;
    const size_t name = at + open.size();
    if (tag.compare(name, 7, "gnuplot") == 0)
      tag.erase(at, tag.find(quote, name) + 1 - at);
    else
      tag.insert(name, prefix);
  }
  replace_all(tag, "href='#", "href='#" + prefix);
  replace_all(tag, "href=\"#", "href=\"#" + prefix);
}

// Takes the elements that begin so and end so out of the text.
void remove_elements(std::string& svg, const std::string& begin, const std::string& end) {
  for (size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    const size_t stop = svg.find(end, at);
    if (stop == std::string::npos) return;
    svg.erase(at, stop + end.size() - at);
  }
}

std::string style_of(const Colours& colours, const std::string& id, bool keeps_scale) {
  std::string css = concat("<style>\n@media (prefers-color-scheme: dark) {\n#", id,
                           " { background: ", hex_of(kDark), "; }\n");
  for (const auto& [name, colour] : colours)
    if (!keeps_scale || is_grey(rgb_of(colour)))
      css += concat('#', id, " [", name, "=\"", colour, "\"] { ", name, ": ", on_dark(colour),
                    "; }\n");
  return css + "}\n</style>\n";
}

}  // namespace

std::string xml_text(std::string text) {
  replace_invalid_utf8(text);
  std::string result;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (is_control)
      append_utf8(0xFFFD, result);
    else
      result += c;
  }
  return result;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : xml_text(text)) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string on_dark(const std::string& colour) {
  constexpr double kContrast = 4.5;
  const Rgb own = rgb_of(colour);
  if (is_grey(own)) return hex_of(mixed(kLight, kDark, own.red / 255));
  const Rgb white = {255, 255, 255};
  double share = 0;
  while (share < 1 &&
         (luminance(mixed(own, white, share)) + 0.05) / (luminance(kDark) + 0.05) < kContrast)
    share += 0.02;
  return hex_of(mixed(own, white, std::min(share, 1.0)));
}

std::string finished_svg(const std::string& drawn, const SvgText& text) {
  std::string svg = compact_svg(drawn);
  // Filters that nothing uses, titles of lines that have none, and gnuplot's own.
  remove_elements(svg, "<filter ", "</filter>");
  remove_elements(svg, "<title>gnuplot_plot_", "</title>");
  remove_elements(svg, "<title>Gnuplot", "</title>");
  remove_elements(svg, "<desc>", "</desc>");
  // Of what is left: empty groups differ with the drawings that a process made before.
  const std::string id = 'f' + hash_hex(svg + text.title).substr(0, 10), prefix = id + '-';
  Colours colours;
  svg = with_tags(svg, [&](std::string& tag) {
    claim_ids(tag, prefix);
    normalise_colours(tag, colours);
  });
  const size_t open = svg.find("<svg");
  const size_t end = open == std::string::npos ? open : svg.find('>', open);
  require<BackendError>(end != std::string::npos, "plot", "expected an SVG from gnuplot, got ",
                        svg.size(), " bytes of something else");
  svg.insert(end + 1, concat("\n<title id=\"", prefix, "title\">", escaped(text.title),
                             "</title>\n<desc id=\"", prefix, "desc\">", escaped(text.description),
                             "</desc>\n", style_of(colours, id, text.keeps_scale)));
  svg.insert(end, concat(" id=\"", id, "\" role=\"img\" aria-labelledby=\"", prefix, "title ",
                         prefix, "desc\"\n"));
  return svg;
}

std::string inlined(const std::string& svg) {
  const size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : svg.substr(begin);
}

}  // namespace farfield::plot
