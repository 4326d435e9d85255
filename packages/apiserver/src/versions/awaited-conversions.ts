import { apiVersionOf, type KubernetesObject, type StoredKind, type Versions } from '@coracle/api'

/** Conversions that one computation may ask for, each of them once. */
export const conversionsMax = 100

/**
 * The result of a pure computation that converts between the versions of a kind. Where a conversion takes time, the computation
 * is broken off, and done again from the beginning when what it asked for is there: so it need not know of time. Answers at
 * once where nothing has to be waited for.
 */
export function withConversions<T>(kind: StoredKind, compute: (versions: Versions) => T | Promise<T>): T | Promise<T> {
  const made: Made = { results: undefined }
  const versions = versionsOf(kind, made)
  const convert = (error: unknown) => {
    if (error instanceof ConversionNeeded) return repeat(error, made, () => compute(versions))
    throw error
  }
  try {
    const computed = compute(versions)
    return computed instanceof Promise ? computed.catch(convert) : computed
  } catch (error) {
    return convert(error)
  }
}

/** What was converted, by what was asked for; most computations ask for nothing. */
interface Made {
  results: Map<string, unknown> | undefined
}

async function repeat<T>(first: ConversionNeeded, made: Made, compute: () => T | Promise<T>): Promise<T> {
  const results = new Map<string, unknown>()
  made.results = results
  for (let needed = first; ; ) {
    if (results.size === conversionsMax) throw new Error(`more than ${conversionsMax} conversions of one object`)
    results.set(needed.key, await needed.converted)
    try {
      return await compute()
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error
      needed = error
    }
  }
}

/** Thrown through a computation that needs what is not there yet. */
class ConversionNeeded extends Error {
  override readonly name = 'ConversionNeeded'
  readonly key: string
  readonly converted: Promise<unknown>
  constructor(key: string, converted: Promise<unknown>) {
    super('a conversion takes time')
    this.key = key
    this.converted = converted
    converted.catch(() => {})
  }
}

/** `made` has what was converted before. */
function versionsOf(kind: StoredKind, made: Made): Versions {
  const find = (apiVersion: string) => kind.versions.find((each) => apiVersionOf(each) === apiVersion)
  const isHub = (apiVersion: string) => apiVersionOf(kind) === apiVersion
  const fromStored = kind.custom?.fromStored
  const converted = (object: KubernetesObject, to: string) => {
    const target = find(to)
    if (fromStored !== undefined) return target === undefined ? fromStored(object) : target.fromHub(object)
    const source = find(object.apiVersion)
    const hub = source === undefined ? object : atOnce(source.toHub(object))
    return target === undefined ? hub : target.fromHub(hub)
  }
  return {
    schemaOf: (apiVersion) => (isHub(apiVersion) ? kind.schema : find(apiVersion)?.schema),
    convert(value, from, to) {
      // What a manager applied may lack what an object has.
      const whole = { apiVersion: from, kind: kind.kind, metadata: {}, ...(value as object) } as KubernetesObject
      const key = fromStored === undefined ? '' : `${to} ${JSON.stringify(whole)}`
      if (made.results?.has(key)) return made.results.get(key)
      const result = converted(whole, to)
      if (result instanceof Promise) throw new ConversionNeeded(key, result)
      return result
    },
  }
}

function atOnce<T>(converted: T | Promise<T>): T {
  if (converted instanceof Promise) throw new Error('only a custom kind takes time to convert')
  return converted
}
