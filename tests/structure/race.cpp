// A race between two threads, which the thread sanitizer has to find: a build in which it finds
// none would find none in the tests either.

#include <thread>

int main() {
  int sum = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) ++sum;
  };
  std::thread other(add);
  add();
  other.join();
  return sum < 0;
}
