#include "engine/base/json.h"

#include <set>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield {
namespace {

// Stands before another handler and refuses what no file may hold.
class Guard : public nlohmann::json_sax<Json> {
 public:
  Guard(const JsonSource& source, nlohmann::json_sax<Json>& handler)
      : source_(source), handler_(handler) {}

  bool null() override { return handler_.null(); }
  bool boolean(bool value) override { return handler_.boolean(value); }
  bool number_integer(number_integer_t value) override { return handler_.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override { return handler_.number_unsigned(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    return handler_.number_float(value, text);
  }
  bool string(string_t& value) override { return handler_.string(value); }
  bool binary(binary_t& value) override { return handler_.binary(value); }

  bool start_object(std::size_t size) override {
    open();
    return handler_.start_object(size);
  }
  bool start_array(std::size_t size) override {
    open();
    return handler_.start_array(size);
  }
  bool end_object() override {
    keys_.pop_back();
    return handler_.end_object();
  }
  bool end_array() override {
    keys_.pop_back();
    return handler_.end_array();
  }
  // A tree would keep one of two equal keys and say nothing.
  bool key(string_t& key) override {
    require<IoError>(keys_.back().insert(key).second, source_.where, source_.file,
                     ": expected each key of an object once, got the key '", key, "' twice");
    return handler_.key(key);
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    const size_t at = position > 0 ? position - 1 : 0;
    fail<IoError>(source_.where, source_.file,
                  ": expected JSON in UTF-8, got something else at byte ", source_.begin + at,
                  at >= source_.text.size() ? "; it is cut short" : "");
  }

 private:
  void open() {
    keys_.emplace_back();
    require<IoError>(keys_.size() <= size_t{kMaxJsonDepth}, source_.where, source_.file,
                     ": expected JSON with at most ", kMaxJsonDepth,
                     " brackets within brackets, got more");
  }

  const JsonSource& source_;
  nlohmann::json_sax<Json>& handler_;
  std::vector<std::set<std::string>> keys_;  // of each bracket that is open; none in a list
};

class Tree : public nlohmann::json_sax<Json> {
 public:
  Json root;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // no text has any
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    key_ = std::move(key);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;  // Guard has thrown
  }

 private:
  bool add(Json value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
    } else {  // behind the others: looking for an equal key would take the square of their number
      open_.back()->get_ref<Json::object_t&>().emplace_back(std::move(key_), std::move(value));
    }
    return true;
  }
  // While a bracket is open nothing is added to those around it: the addresses hold.
  bool open(Json empty) {
    add(std::move(empty));
    if (open_.empty()) {
      open_.push_back(&root);
    } else if (open_.back()->is_array()) {
      open_.push_back(&open_.back()->back());
    } else {
      open_.push_back(&open_.back()->get_ref<Json::object_t&>().back().second);
    }
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

void read_json(const JsonSource& source, nlohmann::json_sax<Json>& handler) {
  // The library takes a NUL for the end of its input.
  const size_t nul = source.text.find('\0');
  require<IoError>(nul == std::string_view::npos, source.where, source.file,
                   ": expected JSON in UTF-8, got a NUL at byte ", source.begin + nul);
  Guard guard(source, handler);
  Json::sax_parse(source.text.begin(), source.text.end(), &guard);
}

std::string write_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string write_hashed_json(Json object, int indent) {
  object["hash"] = hash_hex(write_json(object));
  return write_json(object, indent) + "\n";
}

JsonHash take_hash(Json& object) {
  JsonHash hash;
  if (!object.is_object()) return hash;
  hash.said = whole_member<std::string>(object, "hash").value_or("");
  object.erase("hash");
  hash.own = hash_hex(write_json(object));
  return hash;
}

Json read_json(const JsonSource& source) {
  Tree tree;
  read_json(source, tree);
  return std::move(tree.root);
}

}  // namespace farfield
