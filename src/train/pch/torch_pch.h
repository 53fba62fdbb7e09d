// What every file of the model library includes and nobody else does: the LibTorch header
// takes longer to parse than all of our code to compile.
#include <torch/torch.h>
