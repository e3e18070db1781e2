/* What the library was compiled for, and whether this CPU can run it: r4_cpu_missing and its like in r4.h. */
#ifndef R4_BASE_CPU_H
#define R4_BASE_CPU_H

#include "r4.h"

/* Features that change what the compiler writes, from the oldest on, by the names that compilers have for them. */
#define CPU_FEATURES(F)   \
  F(SSSE3, "ssse3")       \
  F(SSE4_1, "sse4.1")     \
  F(SSE4_2, "sse4.2")     \
  F(POPCNT, "popcnt")     \
  F(AVX, "avx")           \
  F(AVX2, "avx2")         \
  F(FMA, "fma")           \
  F(BMI, "bmi")           \
  F(BMI2, "bmi2")         \
  F(AVX512F, "avx512f")   \
  F(AVX512CD, "avx512cd") \
  F(AVX512BW, "avx512bw") \
  F(AVX512DQ, "avx512dq") \
  F(AVX512VL, "avx512vl")

#define CPU_NUMBER(id, name) CPU_##id,
enum { CPU_FEATURES(CPU_NUMBER) CPU_COUNT_OF_FEATURES };

enum { CPU_TEXT = 256 };

extern const uint32_t cpu_needed; /* bit CPU_AVX is set if the library was compiled for AVX, and so on */
extern const char cpu_march[];    /* what -march= was: x86-64-v3, native                               */

/* The sentence for what is needed and missing, or "" if nothing is. */
void cpu_describe(uint32_t needed, uint32_t present, char text[CPU_TEXT]);

/* Whether this CPU can run the library; if not, the error of the function says why. */
bool cpu_fits(const char *function, r4_error *e);

#endif
