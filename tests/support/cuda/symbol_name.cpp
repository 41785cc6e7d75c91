#include "tests/support/cuda/symbol_name.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace farfield::emulation {
namespace {

// The program or library that holds an address.
struct Object {
  uintptr_t address;
  uintptr_t base = 0;
  std::string path;
};

int find_object(dl_phdr_info* info, size_t, void* data) {
  auto& object = *static_cast<Object*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || object.address < begin || object.address >= begin + part.p_memsz)
      continue;
    object.base = info->dlpi_addr;
    object.path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    return 1;
  }
  return 0;
}

template <class T>
std::vector<T> read(std::ifstream& file, uint64_t offset, size_t n) {
  std::vector<T> values(n);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(n * sizeof(T)));
  return file ? values : std::vector<T>();
}

}  // namespace

std::string symbol_name(const void* function) {
  Object object{reinterpret_cast<uintptr_t>(function), 0, ""};
  if (!dl_iterate_phdr(find_object, &object)) return "";
  std::ifstream file(object.path, std::ios::binary);
  const auto header = read<ElfW(Ehdr)>(file, 0, 1);
  if (header.empty()) return "";
  const auto sections = read<ElfW(Shdr)>(file, header[0].e_shoff, header[0].e_shnum);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto& names_section = sections[section.sh_link];
    const auto names = read<char>(file, names_section.sh_offset, names_section.sh_size);
    const size_t n = section.sh_size / sizeof(ElfW(Sym));
    for (const auto& symbol : read<ElfW(Sym)>(file, section.sh_offset, n)) {
      const bool is_it =
          (symbol.st_info & 0xf) == STT_FUNC && object.base + symbol.st_value == object.address;
      if (is_it && symbol.st_name < names.size()) return names.data() + symbol.st_name;
    }
  }
  return "";
}

}  // namespace farfield::emulation
