// One program for all tests of the device: a test, and the folder of its recording.

#include "forwarding.h"
#include "networks.h"
#include "rules.h"

int main(int count, char** arguments) {
  using Test = void (*)(const std::string& folder);
  const std::map<std::string, Test> tests = {
      {"objects", rules::CheckObjects},           {"nulls", rules::CheckNulls},
      {"features", rules::CheckFeatures},         {"waiting", rules::CheckWaiting},
      {"forwarding", forwarding::CheckAll},       {"failures", forwarding::CheckFailures},
      {"buffers", forwarding::CheckBuffers},      {"mlp", networks::RecordMlp},
      {"program", networks::RecordProgram},       {"forms", networks::RecordForms},
      {"outputs", networks::RecordSharedOutputs}, {"weights", networks::RecordWeightSets},
      {"names", networks::RecordNames},           {"crash", networks::RecordAndDie},
      {"frames", networks::RecordFrames},         {"unknown", networks::RecordUnknownWeights},
      {"long crash", networks::RecordMuchAndDie}, {"folders", rules::CheckFolders},
      {"passing", forwarding::CheckPassing},      {"readback", forwarding::CheckReadback},
  };
  CHECK(count == 3 && tests.count(arguments[1]) == 1);
  tests.at(arguments[1])(arguments[2]);
  std::puts("done");
  return 0;
}
