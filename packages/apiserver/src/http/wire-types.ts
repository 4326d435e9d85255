/** How a value is written: the lowest three bits of what stands before it. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

/** An integer takes at most this many bytes. */
export const varintBytesMax = 10
