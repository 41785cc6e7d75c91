#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <set>
#include <string>

#include "engine/base/error.h"

namespace farfield::eval {

/// What is refused out of several requests in one call, so that one bad one does not cancel the
/// others: each refusal is printed when it comes, and thrown when the rest is done.
class Refusals {
 public:
  /// With goes_on = false the first refusal is thrown at once.
  Refusals(std::ostream& out, bool goes_on) : out_(out), goes_on_(goes_on) {}

  /// Runs act(), unless the request of this key was refused before. A ConfigError refuses it.
  template <class F>
  void guard(const std::string& key, const F& act) {
    seen_.insert(key);
    if (refused_.count(key) > 0) return;
    try {
      act();
    } catch (const ConfigError& error) {
      if (!goes_on_) throw;
      if (!first_) first_ = error;
      out_ << "left out: " << error.what() << std::endl;
      refused_.insert(key);
    }
  }

  int64_t n_refused() const { return static_cast<int64_t>(refused_.size()); }
  /// Throws the first refusal where nothing else is left.
  void rethrow_if_all() const {
    if (first_ && refused_.size() == seen_.size()) throw ConfigError(*first_);
  }
  /// At the end, so that the program does not exit as if all had been done: throws what begins with
  /// `where` and says how many were refused, and the first refusal.
  void rethrow(const std::string& where) const {
    if (first_)
      fail<ConfigError>(where, "bad_argument: ", refused_.size(), " of ", seen_.size(),
                        " measurements left out, the others are done: ", first_->what());
  }

 private:
  std::ostream& out_;
  bool goes_on_;
  std::set<std::string> seen_, refused_;
  std::optional<ConfigError> first_;
};

}  // namespace farfield::eval
