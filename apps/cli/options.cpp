#include "apps/cli/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "apps/cli/blank_list.h"
#include "apps/cli/completion_words.h"
#include "apps/cli/config_file.h"
#include "apps/cli/general_options.h"
#include "apps/cli/man_page.h"
#include "apps/cli/option.h"
#include "apps/cli/option_synonyms.h"
#include "apps/cli/progress.h"
#include "apps/cli/threads.h"
#include "apps/cli/verbose.h"
#include "apps/cli/version.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace po = boost::program_options;

namespace farfield::cli {
namespace {

constexpr std::string_view kWhere = "config";

/// Describes the value of --name to Boost: the text after it in --help, and no default.
class Value : public po::typed_value<std::vector<std::string>> {
 public:
  explicit Value(std::string shown)
      : po::typed_value<std::vector<std::string>>(nullptr), shown_(std::move(shown)) {}
  std::string name() const override { return shown_; }

 private:
  std::string shown_;
};

struct Group {
  std::string title;
  std::vector<Option> options;
};

}  // namespace

struct Options::Impl {
  std::string program;
  std::string summary;
  std::vector<Group> groups;
  std::vector<Option> positional;
  std::map<std::string, std::string> commands;  // a call of each
  std::set<std::string> given;
  std::string config_file;

  Option& add(Option option) {
    if (groups.empty()) groups.push_back({"Options", {}});
    option.starts_empty = option.get() == std::vector<std::string>{""};
    groups.back().options.push_back(std::move(option));
    return groups.back().options.back();
  }

  // Names of options on the command line. With a value: only options that accept it, and flags,
  // which never take the next word.
  std::vector<std::string> names(const std::optional<std::string>& value) const {
    std::vector<std::string> all;
    for (const CompletionWord& one : general_options()) all.push_back(one.word.substr(2));
    for (const std::string& name : own_names(value)) all.push_back(name);
    return all;
  }

  // Without the options that every program has.
  std::vector<std::string> own_names(const std::optional<std::string>& value = {}) const {
    std::vector<std::string> all;
    for (const Group& group : groups)
      for (const Option& option : group.options)
        if (!value || option.is_flag || option.takes(*value)) all.push_back(option.name);
    return all;
  }

  // All that the command line takes, for completion by a shell.
  std::vector<CompletionWord> completion_words() const {
    std::vector<CompletionWord> all;
    for (const auto& [name, usage] : commands) all.push_back({name, "", usage});
    for (const Group& group : groups)
      for (const Option& option : group.options)
        all.push_back({"--" + option.name, option.placeholder, option.help});
    for (const CompletionWord& one : general_options())
      all.push_back({one.word, one.placeholder, "an option of every program"});
    return all;
  }

  ManSection man_section() const {
    ManSection section = {program, summary, {}, {}, {}};
    for (const Option& option : positional)
      section.arguments.push_back({option.name, shown_positional(option), help_of(option)});
    for (const auto& [name, usage] : commands) section.commands.push_back({name, "", usage});
    for (const Group& group : groups) {
      section.groups.push_back({group.title, {}});
      for (const Option& option : group.options)
        section.groups.back().options.push_back(
            {"--" + option.name, option.placeholder, help_of(option)});
    }
    return section;
  }

  // nullptr: no option of that name
  const Option* find(const std::string& name) const {
    for (const Group& group : groups)
      for (const Option& option : group.options)
        if (option.name == name) return &option;
    return nullptr;
  }

  // Of the command line.
  [[noreturn]] void refuse_unknown(const std::string& name,
                                   const std::vector<std::string>& words) const {
    std::string hint;
    if (const auto command = commands.find(name); command != commands.end()) {
      hint = concat("; it is a command: ", command->second);
    } else {
      hint = did_you_mean(name, names(value_behind("--" + name, words)), option_synonyms());
      if (const size_t quote = hint.find('\''); quote != hint.npos) hint.insert(quote + 1, "--");
      if (hint.empty()) hint = concat("; see ", program, " --help");
    }
    fail<ConfigError>(kWhere, "unknown option '--", name, "'", hint);
  }

  // The user's value of an option: "--name=value", "--name value".
  static std::optional<std::string> value_behind(const std::string& option,
                                                 const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].starts_with(option + '=')) return words[i].substr(option.size() + 1);
      if (words[i] != option) continue;
      if (i + 1 < words.size() && !words[i + 1].starts_with("--")) return words[i + 1];
    }
    return {};
  }

  // A value of a list that was meant to go to its option: a path that does not exist, or a number.
  void refuse_loose_value(const Option& to, const std::string& word,
                          const std::vector<BlankList>& lists) const {
    std::error_code status;
    const bool is_number = !word.empty() && word[0] >= '0' && word[0] <= '9';
    if ((!to.is_paths && !is_number) || std::filesystem::exists(word, status)) return;
    for (const BlankList& list : lists)
      require<ConfigError>(!list.has_loose(word) || !find(list.option)->takes(word), kWhere,
                           "expected ", to.name, ", got '", word, "'", list.way_out());
  }

  bool is_flag(const std::string& word) const {
    if (word == "--help" || word == "--version" || word == "--quiet" || word == "--verbose")
      return true;
    for (const Group& group : groups)
      for (const Option& option : group.options)
        if (option.is_flag && word == "--" + option.name) return true;
    return false;
  }

  // With the default.
  static std::string help_of(const Option& option) {
    const std::string value = joined(option.get());
    if (value.empty() || (option.is_flag && value == "false")) return option.help;
    return option.help + " (default: " + value + ")";
  }

  // "[RUN...]"
  static std::string shown_positional(const Option& option) {
    return "[" + option.name + (option.is_list ? "...]" : "]");
  }

  po::options_description description(const Group& group) const {
    po::options_description described(group.title, 100, 50);
    for (const Option& option : group.options) {
      const std::string help = help_of(option);
      auto* semantic = new Value(option.placeholder);
      semantic->composing();
      described.add_options()(option.name.c_str(), semantic, help.c_str());
    }
    return described;
  }

  po::options_description everything() const {
    po::options_description all;
    for (const Group& group : groups) all.add(description(group));
    return all;
  }

  // The values that one source gives to an option, and their places.
  struct Said {
    std::string where, text;
  };
  using Source = std::map<std::string, std::vector<Said>>;

  // Gives the values of one source to the options that no source before it has given.
  void store(const Source& source) {
    for (Group& group : groups) {
      for (Option& option : group.options) {
        const auto found = source.find(option.name);
        if (found != source.end() && given.count(option.name) == 0) set(option, found->second);
      }
    }
  }

  void set(Option& option, const std::vector<Said>& values) {
    require<ConfigError>(option.is_list || values.size() == 1, kWhere, values.front().where,
                         option.name, ": expected one value, got ", values.size());
    if (option.is_list) option.clear();
    for (const auto& [where, text] : values) option.set(where + option.name, text);
    given.insert(option.name);
  }

  void read_config(const std::string& name, const std::vector<ConfigLine>& lines,
                   const std::string& prefix) {
    Source source;
    for (const auto& [key, value, number] : lines) {
      const std::string where = name + (number > 0 ? concat(": line ", number, ": ") : ": ");
      const Option* const option = find(key);
      require<ConfigError>(!is_general_option(key), kWhere, where, "option '", prefix, key,
                           "' is given on the command line alone, as --", key);
      std::string hint = option != nullptr ? "" : did_you_mean(key, own_names(), option_synonyms());
      if (const size_t quote = hint.find('\''); quote != hint.npos) hint.insert(quote + 1, prefix);
      require<ConfigError>(option != nullptr, kWhere, where, "unknown option '", prefix, key, "'",
                           hint);
      std::vector<Said>& said = source[key];
      require<ConfigError>(said.empty() || option->is_list, kWhere, where, "option '", prefix, key,
                           "' is given twice");
      said.push_back({where + prefix, value});
    }
    store(source);
  }
};

Options::Options(std::string program, std::string summary) : impl_(std::make_unique<Impl>()) {
  impl_->program = std::move(program);
  impl_->summary = std::move(summary);
}
Options::~Options() = default;

Options& Options::group(std::string title) {
  impl_->groups.push_back({std::move(title), {}});
  return *this;
}

Options& Options::add(const std::string& name, std::string& value, const std::string& placeholder,
                      const std::string& help) {
  impl_->add(scalar(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, int64_t& value, const std::string& placeholder,
                      const std::string& help) {
  impl_->add(scalar(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, uint64_t& value, const std::string& placeholder,
                      const std::string& help) {
  impl_->add(scalar(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, double& value, const std::string& placeholder,
                      const std::string& help) {
  impl_->add(scalar(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, bool& value, const std::string& help) {
  impl_->add(scalar(name, value, "", help));
  return *this;
}
Options& Options::add(const std::string& name, std::optional<std::string>& value,
                      const std::string& placeholder, const std::string& help) {
  impl_->add(maybe(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, std::optional<int64_t>& value,
                      const std::string& placeholder, const std::string& help) {
  impl_->add(maybe(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, std::optional<double>& value,
                      const std::string& placeholder, const std::string& help) {
  impl_->add(maybe(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, std::optional<bool>& value,
                      const std::string& help) {
  impl_->add(maybe(name, value, "", help));
  return *this;
}
Options& Options::add(const std::string& name, std::vector<int64_t>& value,
                      const std::string& placeholder, const std::string& help) {
  impl_->add(list(name, value, placeholder, help));
  return *this;
}
Options& Options::add(const std::string& name, std::vector<std::string>& value,
                      const std::string& placeholder, const std::string& help) {
  impl_->add(list(name, value, placeholder, help));
  return *this;
}
Options& Options::add_paths(const std::string& name, std::vector<std::string>& values,
                            const std::string& placeholder, const std::string& help) {
  impl_->add(paths(name, values, placeholder, help));
  return *this;
}
Options& Options::add_command(const std::string& name, const std::string& usage) {
  impl_->commands[name] = usage;
  return *this;
}
Options& Options::add_positional(const std::string& name, std::string& value,
                                 const std::string& help) {
  impl_->positional.push_back(scalar(name, value, "", help));
  return *this;
}
Options& Options::add_positional(const std::string& name, std::vector<std::string>& values,
                                 const std::string& help) {
  Option option = list(name, values, "", help);
  option.set = [&values](const std::string&, const std::string& text) { values.push_back(text); };
  impl_->positional.push_back(std::move(option));
  return *this;
}
Options& Options::add_positional_paths(const std::string& name, std::vector<std::string>& values,
                                       const std::string& help) {
  impl_->positional.push_back(paths(name, values, "", help));
  return *this;
}

bool Options::parse(int argc, const char* const* argv, std::ostream& out) {
  Impl& self = *impl_;
  if (asks_for_words(argc, argv)) {
    print_words(self.completion_words(), out);
    return false;
  }
  if (asks_for_man_section(argc, argv)) {
    print_man_section(self.man_section(), out);
    return false;
  }
  po::options_description known = self.everything();
  po::options_description general;
  for (const CompletionWord& one : general_options())
    general.add_options()(one.word.c_str() + 2, new Value(""), "");
  known.add(general);

  using style = po::command_line_style::style_t;
  const int exact = style::allow_long | style::long_allow_adjacent | style::long_allow_next;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = std::string_view(argv[i]) == "-h" ? "--help" : argv[i];
    if (self.is_flag(word)) word += "=true";  // a flag never takes the word after it
    words.push_back(std::move(word));
  }
  std::vector<std::string> loose, configs;
  std::vector<BlankList> lists;
  Impl::Source source;
  bool is_behind_list = false, is_quiet = false, asks_for_verbose = false;
  try {
    po::positional_options_description none;
    const po::parsed_options parsed =
        po::command_line_parser(words).options(known).style(exact).allow_unregistered().run();
    for (const auto& item : parsed.options) {
      if (item.position_key >= 0 || item.string_key.empty()) {
        for (const std::string& word : item.value)
          if (const std::string name = name_behind_dash(word); self.find(name) != nullptr)
            fail<ConfigError>(kWhere, "unknown option '", word, "'; did you mean '--", name, "'?");
        loose.insert(loose.end(), item.value.begin(), item.value.end());
        if (is_behind_list)
          lists.back().words.insert(lists.back().words.end(), item.value.begin(), item.value.end());
        continue;
      }
      const Option* const option = self.find(item.string_key);
      is_behind_list = option != nullptr && option->is_list && !option->is_paths;
      if (is_behind_list) lists.push_back({option->name, item.value});
      if (item.unregistered) {
        self.refuse_unknown(item.string_key, words);
      } else if (item.string_key == "help") {
        print_help(out);
        return false;
      } else if (item.string_key == "version") {
        out << self.program << ' ' << version_text();
        return false;
      } else if (item.string_key == "config") {
        configs.insert(configs.end(), item.value.begin(), item.value.end());
      } else if (item.string_key == "quiet") {
        is_quiet = true;
      } else if (item.string_key == "verbose") {
        asks_for_verbose = true;
      } else {
        for (const std::string& text : item.value) source[item.string_key].push_back({"--", text});
      }
    }
    set_quiet(is_quiet);
    set_verbose(asks_for_verbose);
    self.store(source);
  } catch (const po::error& error) {
    fail<ConfigError>(kWhere, error.what(), "; see ", self.program, " --help");
  }

  size_t n_taken = 0;
  for (Option& option : self.positional) {
    if (n_taken == loose.size()) break;
    const size_t n = option.is_list ? loose.size() - n_taken : 1;
    for (size_t j = n_taken; j < n_taken + n; ++j) self.refuse_loose_value(option, loose[j], lists);
    std::vector<Impl::Said> values;
    while (values.size() < n) values.push_back({"", loose[n_taken++]});
    self.set(option, values);
  }
  if (n_taken < loose.size()) {
    const std::string hint = blank_list_hint(lists, loose[n_taken]);
    fail<ConfigError>(kWhere, "unexpected argument '", loose[n_taken], "'",
                      hint.empty() ? concat("; see ", self.program, " --help") : hint);
  }

  require<ConfigError>(configs.size() <= 1, kWhere, "--config: expected one file, got ",
                       configs.size());
  for (const std::string& config : configs) {
    require<ConfigError>(!config.empty(), kWhere, "--config: expected a file, got nothing");
    read_config(config, read_file(config));
  }
  // A wrong FARFIELD_THREADS is an error of programs that need no threads, too.
  if (!given("threads")) use_threads({}, remarks());
  return true;
}

void Options::read_config(const std::string& name, std::string_view text) {
  read_config(name, parse_config(name, text));
}

void Options::read_config(const std::string& name, const std::vector<ConfigLine>& lines,
                          const std::string& prefix) {
  impl_->read_config(name, lines, prefix);
}

void Options::read_config(const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<ConfigLine> lines;
  for (const auto& [key, value] : settings) lines.push_back({key, value});
  read_config(name, lines);
}

bool Options::given(const std::string& name) const { return impl_->given.count(name) > 0; }

std::string Options::resolved(const std::vector<std::string>& without) const {
  std::string text;
  for (const Group& group : impl_->groups) {
    for (const Option& option : group.options) {
      if (std::find(without.begin(), without.end(), option.name) != without.end()) continue;
      for (const std::string& value : option.get())
        if (!value.empty() || !option.starts_empty) text += config_line(option.name, value);
    }
  }
  return text;
}

void Options::print_help(std::ostream& out) const {
  out << "usage: " << impl_->program;
  for (const Option& option : impl_->positional) out << ' ' << Impl::shown_positional(option);
  out << " [options]\n\n" << impl_->summary << "\n";
  for (const Option& option : impl_->positional)
    out << "\n  " << option.name << "  " << Impl::help_of(option) << '\n';
  for (const Group& group : impl_->groups) out << '\n' << impl_->description(group);
  po::options_description general("General", 100, 50);
  for (const CompletionWord& one : general_options())
    general.add_options()(one.word.c_str() + 2, new Value(one.placeholder), one.help.c_str());
  out << '\n' << general;
}

}  // namespace farfield::cli
