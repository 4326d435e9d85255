/** Numbers of the protocol, by their names at IANA (https://www.iana.org/assignments/dns-parameters). */

export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
} as const

export const rcodes = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
  /** Of EDNS: its upper bits are in the OPT record. */
  badVersion: 16,
} as const

/** The one class there is, Internet. */
export const internetClass = 1

/** Bits of the second word of a header. */
export const flags = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  checkingDisabled: 0x0010,
} as const

export const headerBytes = 12
/** Longest name, with the lengths of its labels. */
export const nameBytesMax = 255
/** What a resolver takes over UDP that says nothing else. */
export const plainUdpBytes = 512
/** What is sent over UDP at most, whatever a resolver takes: it fits into a frame of any network (https://www.dnsflagday.net/2020). */
export const udpBytesMax = 1232
export const tcpBytesMax = 65_535
