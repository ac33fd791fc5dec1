// Threads that share a device, in a separate program for another sanitizer than main.cpp.

#include "rules.h"

int main(int count, char** arguments) {
  CHECK(count == 3);
  rules::CheckThreads(arguments[2]);
  std::puts("done");
  return 0;
}
