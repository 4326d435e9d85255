/** As with kubectl: a difference has exit code 1, and a failure another. */
export const diffFailedExitCode = 2
