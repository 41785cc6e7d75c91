#include "apps/plot/compact_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace farfield::plot {
namespace {

struct Point {
  double x = 0, y = 0;
};

struct Line {
  std::vector<Point> points;
  bool is_closed = false;
};

// The lines of a path of M, L and Z with absolute coordinates; nothing for any other.
std::optional<std::vector<Line>> lines_of(const std::string& path) {
  std::vector<Line> lines;
  const char* at = path.c_str();
  for (;;) {
    while (*at == ' ' || *at == '\n' || *at == '\t') ++at;
    const char command = *at;
    if (command == '\0') return lines;
    ++at;
    if (command == 'Z' || command == 'z') {
      if (lines.empty() || lines.back().is_closed) return std::nullopt;
      lines.back().is_closed = true;
      continue;
    }
    char* end = nullptr;
    Point p;
    p.x = std::strtod(at, &end);
    if (end == at || *end != ',') return std::nullopt;
    at = end + 1;
    p.y = std::strtod(at, &end);
    if (end == at) return std::nullopt;
    at = end;
    if (command == 'M')
      lines.push_back({{p}, false});
    else if (command == 'L' && !lines.empty() && !lines.back().is_closed)
      lines.back().points.push_back(p);
    else
      return std::nullopt;
  }
}

double distance(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double along =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

// The points without which no part of the line moves by more than `tolerance` (Douglas and Peucker
// 1973).
std::vector<Point> thinned(const std::vector<Point>& points, double tolerance) {
  if (points.size() < 3) return points;
  std::vector<bool> is_kept(points.size(), false);
  is_kept.front() = is_kept.back() = true;
  std::vector<std::pair<size_t, size_t>> parts = {{0, points.size() - 1}};
  while (!parts.empty()) {
    const auto [first, last] = parts.back();
    parts.pop_back();
    size_t farthest = first;
    double most = tolerance;
    for (size_t i = first + 1; i < last; ++i)
      if (const double d = distance(points[i], points[first], points[last]); d > most) {
        most = d;
        farthest = i;
      }
    if (farthest == first) continue;
    is_kept[farthest] = true;
    parts.emplace_back(first, farthest);
    parts.emplace_back(farthest, last);
  }
  std::vector<Point> kept;
  for (size_t i = 0; i < points.size(); ++i)
    if (is_kept[i]) kept.push_back(points[i]);
  return kept;
}

// Tenths of a pixel: 12 is "1.2", -3 is "-.3".
std::string tenths_text(int64_t tenths) {
  std::string text = tenths < 0 ? "-" : "";
  const int64_t size = std::abs(tenths);
  if (size >= 10 || size == 0) text += std::to_string(size / 10);
  if (size % 10 != 0) text += '.' + std::to_string(size % 10);
  return text;
}

constexpr double kTolerance = 0.1;

std::string path_of(const std::vector<Line>& lines) {
  const auto tenths = [](double x) { return std::llround(10 * x); };
  std::string path;
  for (const Line& line : lines) {
    if (line.points.size() < 2 && !line.is_closed) continue;  // a move that draws nothing
    const std::vector<Point> points = thinned(line.points, kTolerance);
    int64_t x = tenths(points[0].x), y = tenths(points[0].y);
    path += concat('M', tenths_text(x), ',', tenths_text(y));
    for (size_t i = 1; i < points.size(); ++i) {
      const int64_t to_x = tenths(points[i].x), to_y = tenths(points[i].y);
      path += concat(i == 1 ? 'l' : ' ', tenths_text(to_x - x), ',', tenths_text(to_y - y));
      x = to_x;
      y = to_y;
    }
    if (line.is_closed) path += 'z';
  }
  return path;
}

// Of lines, not of symbols, whose unit is larger.
void rewrite_paths(std::string& svg) {
  const std::string begin = " d='";
  const size_t symbols = svg.find("</defs>");
  for (size_t at = svg.find(begin, symbols == std::string::npos ? 0 : symbols);
       at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    const size_t end = svg.find('\'', at);
    if (end == std::string::npos) return;
    if (const auto lines = lines_of(svg.substr(at, end - at)))
      svg.replace(at, end - at, path_of(*lines));
  }
}

// Bands: a polygon has the points of a path, without its letters.
void rewrite_polygons(std::string& svg) {
  const std::string begin = " points = '";
  for (size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    const size_t end = svg.find('\'', at);
    if (end == std::string::npos) return;
    std::string path;
    std::istringstream points_of(svg.substr(at, end - at));
    for (std::string point; points_of >> point;) path += (path.empty() ? 'M' : 'L') + point;
    const auto lines = lines_of(path);
    if (!lines || lines->size() != 1) continue;
    std::string points;
    for (const Point& p : thinned(lines->front().points, kTolerance))
      points += concat(points.empty() ? "" : " ", tenths_text(std::llround(10 * p.x)), ',',
                       tenths_text(std::llround(10 * p.y)));
    svg.replace(at, end - at, points);
  }
}

// Symbols refer to each other, so that one may go only when another has gone.
void remove_unused_symbols(std::string& svg) {
  const std::string begin = "id='gpPt";
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
      const size_t name = at + 4, close = svg.find('\'', name);
      const size_t open = svg.rfind('<', at), end = svg.find("/>\n", at);
      if (close == std::string::npos || end == std::string::npos) return;
      if (svg.find(concat("'#", svg.substr(name, close - name), '\'')) != std::string::npos)
        continue;
      const size_t start = svg.find_last_not_of(" \t", open - 1) + 1;
      svg.erase(start, end + 3 - start);
      at = start;
      has_changed = true;
    }
  }
}

void remove_empty_groups(std::string& svg) {
  const std::string inside = ">\n</g>\n";
  for (size_t at = svg.find(inside); at != std::string::npos; at = svg.find(inside, at)) {
    const size_t open = svg.rfind('<', at);
    if (svg.compare(open, 3, "<g ") != 0) {
      ++at;
      continue;
    }
    svg.erase(open, at + inside.size() - open);
    at = open > 1 ? open - 2 : 0;  // that may leave the group around it empty
  }
}

}  // namespace

std::string compact_svg(std::string svg) {
  remove_empty_groups(svg);
  remove_unused_symbols(svg);
  rewrite_paths(svg);
  rewrite_polygons(svg);
  return svg;
}

}  // namespace farfield::plot
