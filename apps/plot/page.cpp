#include "apps/plot/page.h"

#include "apps/plot/svg.h"
#include "engine/base/error.h"

namespace farfield::plot {
namespace {

constexpr const char* kMeta = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
)";

constexpr const char* kStyle =
    R"(:root { color-scheme: light dark; --page: #ffffff; --ink: #1c1c1c; --soft: #595959; --line: #dddddd;
        --link: #0b57a4; --shadow: rgba(0, 0, 0, .35); --explodes: rgba(215, 60, 40, .28);
        --degrades: rgba(235, 150, 30, .26); --improves: rgba(40, 150, 80, .2); }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181c; --ink: #e8e8e8; --soft: #a9a9a9; --line: #3b3e44; --link: #8fbcf2;
          --shadow: rgba(255, 255, 255, .35); --explodes: rgba(235, 75, 55, .42);
          --degrades: rgba(230, 150, 40, .34); --improves: rgba(50, 170, 95, .32); }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; }
a { color: var(--link); }
.figures { display: flex; flex-wrap: wrap; gap: 1.5rem 1rem; }
figure { margin: 0; flex: 1 1 20rem; max-width: 32rem; }
figcaption { font-weight: 600; font-size: .95rem; text-align: center; }
svg { display: block; width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; }
th:first-child { text-align: left; font-weight: 600; }
.word { text-align: left; }
/* The table scrolls by itself, under its first column; a shadow lies where it goes on. */
.wide { overflow-x: auto; background:
  linear-gradient(to left, var(--page) 35%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--shadow), transparent) right / 1rem 100% no-repeat scroll; }
.wide th:first-child { position: sticky; left: 0; background: var(--page); white-space: normal;
                       min-width: 5.5rem; max-width: 13rem; overflow-wrap: anywhere; }
.cue { display: none; color: var(--soft); font-size: .9rem; margin-bottom: .3rem; }
.facts th { vertical-align: top; white-space: normal; max-width: 16rem; }
@media (max-width: 40rem) { .facts th, .facts td { display: block; max-width: none; } }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; }
)";

}  // namespace

std::string page_head(const std::string& title, const std::string& style) {
  return concat(kMeta, "<title>", escaped(title), "</title>\n<style>\n", kStyle, style,
                "</style>\n</head>\n<body>\n");
}

}  // namespace farfield::plot
