import type { Tarball } from './pack.ts'

interface Budget {
  readonly packedBytesMax: number
  readonly unpackedBytesMax: number
}

const kB = 1000

/**
 * How large each package may be: about a fifth more than it is. What passes its budget has taken in something it should not have, or has
 * grown for a reason, which the change says that raises it.
 */
const budgets: Readonly<Record<string, Budget>> = {
  '@coracle/api': { packedBytesMax: 850 * kB, unpackedBytesMax: 4_800 * kB },
  '@coracle/apiserver': { packedBytesMax: 460 * kB, unpackedBytesMax: 1_600 * kB },
  '@coracle/cli': { packedBytesMax: 3_300 * kB, unpackedBytesMax: 12_800 * kB },
  '@coracle/client': { packedBytesMax: 145 * kB, unpackedBytesMax: 500 * kB },
  '@coracle/cluster': { packedBytesMax: 102 * kB, unpackedBytesMax: 340 * kB },
  '@coracle/controller-runtime': { packedBytesMax: 72 * kB, unpackedBytesMax: 220 * kB },
  '@coracle/controllers': { packedBytesMax: 240 * kB, unpackedBytesMax: 880 * kB },
  '@coracle/csi': { packedBytesMax: 47 * kB, unpackedBytesMax: 153 * kB },
  '@coracle/dns': { packedBytesMax: 50 * kB, unpackedBytesMax: 155 * kB },
  '@coracle/environment': { packedBytesMax: 60 * kB, unpackedBytesMax: 175 * kB },
  '@coracle/kubelet': { packedBytesMax: 400 * kB, unpackedBytesMax: 1_510 * kB },
  '@coracle/proxy': { packedBytesMax: 39 * kB, unpackedBytesMax: 116 * kB },
  '@coracle/scheduler': { packedBytesMax: 112 * kB, unpackedBytesMax: 400 * kB },
  '@coracle/simulator': { packedBytesMax: 139 * kB, unpackedBytesMax: 490 * kB },
  '@coracle/store': { packedBytesMax: 96 * kB, unpackedBytesMax: 310 * kB },
  '@coracle/why': { packedBytesMax: 75 * kB, unpackedBytesMax: 270 * kB },
}

/** What is too large, or has no budget, in words. */
export function overBudget(
  tarballs: readonly Pick<Tarball, 'name' | 'packedBytes' | 'unpackedBytes'>[],
): readonly string[] {
  return tarballs.flatMap(({ name, packedBytes, unpackedBytes }) => {
    const budget = budgets[name]
    if (budget === undefined) return [`${name} has no budget: give it one in scripts/release/budgets.ts`]
    const { packedBytesMax, unpackedBytesMax } = budget
    return [
      ...exceeded(name, 'packed', packedBytes, packedBytesMax),
      ...exceeded(name, 'unpacked', unpackedBytes, unpackedBytesMax),
    ]
  })
}

function exceeded(name: string, what: string, bytes: number, bytesMax: number): readonly string[] {
  return bytes <= bytesMax ? [] : [`${name} is ${bytes} bytes ${what}, and may be ${bytesMax}`]
}
