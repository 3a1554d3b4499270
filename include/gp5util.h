/* gp5util.h: the name under which clients of GRAPE-5 include the header of their library. */
#ifndef KIRIN_GP5UTIL_H
#define KIRIN_GP5UTIL_H

#include "kirin_grape5.h"

/* What g5_get_jmemsize answers: clients dimension arrays by it. */
#define JMEMSIZE (1 << 20)

#endif /* KIRIN_GP5UTIL_H */
