/** A name, and with each number up to the last one. */
const numbered = (name: string, sign: string, last: number): readonly string[] =>
  Array.from({ length: last + 1 }, (_, offset) => (offset === 0 ? name : `${name}${sign}${offset}`))

/** The signals that containers on Linux may be stopped with (upstream's supportedStopSignalsLinux), sorted. */
export const linuxSignals = (): readonly string[] =>
  [
    ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT'.split(' '),
    ...'SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'.split(' '),
    ...numbered('RTMAX', '-', 14),
    ...numbered('RTMIN', '+', 15),
  ]
    .map((name) => `SIG${name}`)
    .sort()
