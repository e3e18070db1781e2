/* What the library was compiled for. Numbers only: they are read before it is known whether its code can run here. */
#include "base/cpu.h"

#ifndef R4_MARCH
#define R4_MARCH "?"
#endif

const char cpu_march[] = R4_MARCH;

#define BIT(id) ((uint32_t)1 << CPU_##id)

const uint32_t cpu_needed = 0
#ifdef __SSSE3__
                            | BIT(SSSE3)
#endif
#ifdef __SSE4_1__
                            | BIT(SSE4_1)
#endif
#ifdef __SSE4_2__
                            | BIT(SSE4_2)
#endif
#ifdef __POPCNT__
                            | BIT(POPCNT)
#endif
#ifdef __AVX__
                            | BIT(AVX)
#endif
#ifdef __AVX2__
                            | BIT(AVX2)
#endif
#ifdef __FMA__
                            | BIT(FMA)
#endif
#ifdef __BMI__
                            | BIT(BMI)
#endif
#ifdef __BMI2__
                            | BIT(BMI2)
#endif
#ifdef __AVX512F__
                            | BIT(AVX512F)
#endif
#ifdef __AVX512CD__
                            | BIT(AVX512CD)
#endif
#ifdef __AVX512BW__
                            | BIT(AVX512BW)
#endif
#ifdef __AVX512DQ__
                            | BIT(AVX512DQ)
#endif
#ifdef __AVX512VL__
                            | BIT(AVX512VL)
#endif
  ;
