#pragma once
// The one portability macro: a function marked FARFIELD_HD is compiled for the host and, by nvcc,
// for the device too.

#ifdef __CUDACC__
#define FARFIELD_HD __host__ __device__
#else
#define FARFIELD_HD
#endif
