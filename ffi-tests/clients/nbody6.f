C     Calls the library with NBODY6's arguments, which are fewer than
C     those of NBODY6++, and compares potentials, regular forces and
C     neighbours with plain sums. Prints how many are wrong.
      PROGRAM CLIENT
      INTEGER N, LMAX
      PARAMETER (N=200, LMAX=201)
      INTEGER I, J, K, NN, NB, NWRONG, NBMAX, LISTGP(LMAX,N), LIST(LMAX)
      DOUBLE PRECISION BODY(N), X(3,N), XDOT(3,N), PHI(N), H2(N), DTR(N)
      DOUBLE PRECISION ACC(3,N), JRK(3,N), POT(N), F(3), P, U, R2, D(3)
      EXTERNAL GPUNB_OPEN, GPUNB_SEND, GPUNB_REGF, GPUPOT, GPUNB_CLOSE
      EXTERNAL GPUIRR_OPEN, GPUIRR_CLOSE

      U = 0.5D0
      DO 20 I = 1, N
         DO 10 K = 1, 3
            U = MOD(U*1664525D0 + 1013904223D0, 4294967296D0)
            X(K,I) = U/4294967296D0
            XDOT(K,I) = 0
 10      CONTINUE
C     Masses whose neighbour spheres differ.
         BODY(I) = (1 + MOD(I,4))/(2.5D0*N)
         H2(I) = 0.1D0*N
         DTR(I) = 0.1D0
 20   CONTINUE
      NWRONG = 0
      NN = N
      NBMAX = LMAX - 1
C     Before anything is open, as NBODY6 does.
      CALL GPUPOT(NN, BODY, X, PHI)
      CALL GPUNB_OPEN(NN)
      CALL GPUIRR_OPEN(NN, LMAX)
      CALL GPUNB_SEND(NN, BODY, X, XDOT)
      CALL GPUNB_REGF(NN, H2, DTR, X, XDOT, ACC, JRK, POT, LMAX, NBMAX,
     &                LISTGP)
      DO 60 I = 1, N
         P = 0
         NB = 0
         F(1) = 0
         F(2) = 0
         F(3) = 0
         DO 50 J = 1, N
            R2 = 0
            DO 30 K = 1, 3
               D(K) = X(K,J) - X(K,I)
               R2 = R2 + D(K)**2
 30         CONTINUE
            IF (J.NE.I) P = P + BODY(J)/SQRT(R2)
            IF (R2.LT.BODY(J)*H2(I)) THEN
               NB = NB + 1
               LIST(NB) = J - 1
            ELSE
               DO 40 K = 1, 3
                  F(K) = F(K) + BODY(J)*D(K)/(R2*SQRT(R2))
 40            CONTINUE
            END IF
 50      CONTINUE
         IF (.NOT.ABS(PHI(I) - P).LT.1D-6*P) NWRONG = NWRONG + 1
         IF (LISTGP(1,I).NE.NB) THEN
            NWRONG = NWRONG + 1
         ELSE IF (ANY(LISTGP(2:NB+1,I).NE.LIST(1:NB))) THEN
            NWRONG = NWRONG + 1
         END IF
         DO 55 K = 1, 3
            IF (.NOT.ABS(ACC(K,I) - F(K)).LT.1D-5) NWRONG = NWRONG + 1
 55      CONTINUE
 60   CONTINUE
      CALL GPUIRR_CLOSE
      CALL GPUNB_CLOSE
      WRITE (*,'(I0,A)') NWRONG, ' wrong'
      END
