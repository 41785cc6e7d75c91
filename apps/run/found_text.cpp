#include "apps/run/found_text.h"

namespace farfield::run {

data::PrepareOptions found_text() {
  data::PrepareOptions options;
  options.source.inputs = {"/usr/include"};
  options.source.endings = {"h", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tcc", "none"};
  options.source.drop_duplicates = true;
  return options;
}

}  // namespace farfield::run
