/*
 * Values of CRI's `Signal`: a number of their own for each name, in this order, from 1.
 * https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto
 */
const names: readonly string[] = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP'.split(' '),
  ...'SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN'.split(' '),
  ...Array.from({ length: 15 }, (_, index) => `RTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `RTMAX-${14 - index}`),
  'RTMAX',
].map((name) => `SIG${name}`)

/** The number that CRI has for a signal, such as SIGUSR1 or SIGRTMIN+2; 0, which leaves it to the runtime, where it has none. */
export const signalNumber = (name: string): number => names.indexOf(name) + 1

/** The name of a signal of CRI; undefined where the runtime does not say which it is. */
export const signalName = (number: number): string | undefined => names[number - 1]
