/* grape6.h: the name under which clients of GRAPE-6 include the header of their library. */
#ifndef KIRIN_GRAPE6_H
#define KIRIN_GRAPE6_H

#include "kirin.h"

#endif /* KIRIN_GRAPE6_H */
