#include "apps/cli/completion_script.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {
namespace {

// Between single quotes, as both shells read it.
std::string quoted_for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The values that a placeholder names: of "cpu|cuda|cuda:N" the first two.
std::vector<std::string> choices_of(const std::string& placeholder) {
  std::vector<std::string> choices;
  if (placeholder.find('|') == placeholder.npos) return choices;
  for (size_t begin = 0; begin <= placeholder.size();) {
    const size_t end = std::min(placeholder.find('|', begin), placeholder.size());
    const std::string part = placeholder.substr(begin, end - begin);
    if (!part.empty() &&
        part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == part.npos)
      choices.push_back(part);
    begin = end + 1;
  }
  return choices;
}

bool is_path(const std::string& placeholder) {
  for (const char* word : {"FILE", "FOLDER", "PATH", "RUN"})
    if (placeholder.find(word) != placeholder.npos) return true;
  return false;
}

// What the shell does behind an option, as assignments of `kind` and `values`.
std::string value_arm(const CompletionWord& option) {
  const std::vector<std::string> choices = choices_of(option.placeholder);
  if (!choices.empty()) return "kind=words values=(" + joined(choices, " ") + ")";
  return is_path(option.placeholder) ? "kind=files" : "kind=any";
}

// `case` arms that both shells share: "command word" to an action.
std::string command_arms(const std::vector<CompletionTable>& tables) {
  std::string arms;
  for (const CompletionTable& table : tables) {
    if (table.command.empty()) continue;
    const size_t space = table.command.rfind(' ');
    const std::string last = space == table.command.npos ? " " + table.command : table.command;
    arms += "      " + quoted_for_shell(last) + ") command=" + quoted_for_shell(table.command) +
            " ;;\n";
  }
  return arms;
}

std::string value_arms(const std::vector<CompletionTable>& tables) {
  std::map<std::string, std::vector<std::string>> patterns;
  for (const CompletionTable& table : tables)
    for (const CompletionWord& one : table.words)
      if (!one.placeholder.empty())
        patterns[value_arm(one)].push_back(quoted_for_shell(table.command + " " + one.word));
  std::string arms;
  for (const auto& [action, names] : patterns)
    arms += "    " + joined(names, " | ") + ") " + action + " ;;\n";
  return arms;
}

std::string word_arms(const std::vector<CompletionTable>& tables, bool with_help) {
  std::string arms;
  for (const CompletionTable& table : tables) {
    std::vector<std::string> commands, options;
    for (const CompletionWord& one : table.words) {
      std::string help;
      if (with_help) help = ":" + one.help;
      (one.is_option() ? options : commands).push_back(quoted_for_shell(one.word + help));
    }
    arms += concat("    ", quoted_for_shell(table.command), ") subcommands=(",
                   joined(commands, " "), ") options=(", joined(options, " "), ") ;;\n");
  }
  return arms;
}

std::string head_of(const std::string& shell, const std::string& program) {
  return concat("# Completes ", program, " in ", shell, "; made by `", program, " --completion ",
                shell, "`.\n");
}

std::string bash_script(const std::string& program, const std::vector<CompletionTable>& tables) {
  const std::string function = "_farfield_" + program;
  return head_of("bash", program) + function + R"(() {
  [[ $(type -t -- "$1") == builtin ]] && return  # a name of the shell's own: eval
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= kind= i
  local -a subcommands=() options=() values=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]] && ((COMP_CWORD > 1)); then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
)" + command_arms(tables) +
         R"(      *) break ;;
    esac
  done
  case $command in
)" + word_arms(tables, /*with_help=*/false) +
         R"(  esac
  case "$command $prev" in
)" + value_arms(tables) +
         R"(  esac
  COMPREPLY=()
  case $kind in
    words) COMPREPLY=($(compgen -W "${values[*]}" -- "$cur")) ;;
    files) ;;
    any) compopt +o default 2>/dev/null ;;
    *)
      if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "${options[*]}" -- "$cur"))
      elif ((i == COMP_CWORD)); then
        COMPREPLY=($(compgen -W "${subcommands[*]}" -- "$cur"))
      fi
      ;;
  esac
}
complete -o default -F )" +
         function + ' ' + program + '\n';
}

std::string zsh_script(const std::string& program, const std::vector<CompletionTable>& tables) {
  const std::string function = "_farfield_" + program;
  return "#compdef " + program + "\n" + head_of("zsh", program) + function + R"(() {
  if (( $+builtins[$words[1]] )); then  # a name of the shell's own: eval
    _precommand
    return
  fi
  local command= kind= prev=$words[CURRENT-1] i
  local -a subcommands options values
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command $words[i]" in
)" + command_arms(tables) +
         R"(      *) break ;;
    esac
  done
  case $command in
)" + word_arms(tables, /*with_help=*/true) +
         R"(  esac
  if [[ $PREFIX == --*=* ]]; then
    prev=${PREFIX%%=*}
    compset -P 1 '*='
  fi
  case "$command $prev" in
)" + value_arms(tables) +
         R"(  esac
  case $kind in
    words) compadd -a values ;;
    files) _files ;;
    any) _message value ;;
    *)
      if [[ $PREFIX == -* ]]; then
        _describe -o option options
      elif (( i == CURRENT && $#subcommands )); then
        _describe command subcommands
      else
        _files
      fi
      ;;
  esac
}
)" + function +
         " \"$@\"\n";
}

}  // namespace

std::string completion_script(const std::string& shell, const std::string& program,
                              const std::vector<CompletionTable>& tables) {
  require<ConfigError>(shell == "bash" || shell == "zsh", "config",
                       "--completion: expected bash or zsh, got '", shell, "'");
  return shell == "bash" ? bash_script(program, tables) : zsh_script(program, tables);
}

}  // namespace farfield::cli
