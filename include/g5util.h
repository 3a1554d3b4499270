/* g5util.h: an older name of gp5util.h, the header of GRAPE-5's library. */
#ifndef KIRIN_G5UTIL_H
#define KIRIN_G5UTIL_H

#include "gp5util.h"

#endif /* KIRIN_G5UTIL_H */
