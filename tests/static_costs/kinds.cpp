#include "tests/static_costs/kinds.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

namespace farfield::static_costs {
namespace {

struct Row {
  Kind kind;
  const char* name;
  std::initializer_list<std::string_view> opcodes;
};

// Source    CUDA Binary Utilities, "Instruction Set Reference", Ampere and Hopper
const Row kRows[] = {
    {Kind::fp32,
     "fp32",
     {"FFMA", "FADD", "FMUL", "FMNMX", "FSETP", "FSEL", "FSET", "FCHK", "FFMA32I", "FADD32I",
      "FMUL32I", "FSWZADD"}},
    {Kind::mufu, "mufu", {"MUFU"}},
    {Kind::tensor, "tensor", {"HMMA", "IMMA", "BMMA", "DMMA", "HGMMA", "IGMMA", "QGMMA"}},
    {Kind::integer,
     "integer",
     {"IMAD", "IADD3", "IADD",   "VIADD",    "LOP3",   "LOP",    "PLOP3", "SHF",   "SHL",  "SHR",
      "LEA",  "ISETP", "IMNMX",  "VIMNMX",   "IABS",   "ISCADD", "POPC",  "FLO",   "BREV", "BMSK",
      "SGXT", "IDP",   "IDP4A",  "VABSDIFF", "UIADD3", "UIMAD",  "ULOP3", "ULOP",  "USHF", "USHL",
      "USHR", "ULEA",  "UISETP", "UPLOP3",   "UPOPC",  "UFLO",   "UBREV", "UBMSK", "USGXT"}},
    {Kind::convert,
     "convert",
     {"F2F", "F2FP", "F2I", "F2IP", "I2F", "I2FP", "I2I", "I2IP", "FRND"}},
    {Kind::global,
     "global",
     {"LDG", "STG", "RED", "REDG", "ATOM", "ATOMG", "LD", "ST", "LDGSTS", "LDL", "STL", "UBLKCP",
      "UTMALDG", "UTMASTG"}},
    {Kind::shared, "shared", {"LDS", "STS", "LDSM", "STSM", "ATOMS"}},
    {Kind::control, "control", {"BRA",    "BRX",       "JMP",    "JMX",         "BSSY",
                                "BSYNC",  "BAR",       "BREAK",  "CALL",        "RET",
                                "EXIT",   "WARPSYNC",  "YIELD",  "NOP",         "BPT",
                                "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR",      "NANOSLEEP",
                                "KILL",   "BMOV",      "CCTL",   "UCGABAR_ARV", "UCGABAR_WAIT"}},
    {Kind::other, "other", {}},
};

}  // namespace

Kind kind_of(std::string_view opcode) {
  for (const Row& row : kRows)
    if (std::find(row.opcodes.begin(), row.opcodes.end(), opcode) != row.opcodes.end())
      return row.kind;
  return Kind::other;
}

std::string name_of(Kind kind) { return kRows[static_cast<size_t>(kind)].name; }

int64_t total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

}  // namespace farfield::static_costs
