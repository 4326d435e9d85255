/** A module that most clusters can do without, for functions that cannot wait for it themselves. */
export interface LazyModule<M> {
  /** Loads it, for the `load` of a strategy: undefined once it is there. One that could not be loaded is tried again. */
  readonly load: () => Promise<void> | undefined
  /** The module. Throws before it is loaded. */
  readonly get: () => M
}

/** The module that `load` imports; `name` is what an error calls it, in the plural. */
export function lazyModule<M>(name: string, load: () => Promise<M>): LazyModule<M> {
  let loaded: M | undefined
  const fetch = async (): Promise<void> => {
    loaded = await load()
  }
  return {
    load: () => (loaded === undefined ? fetch() : undefined),
    get: () => {
      if (loaded === undefined) throw new Error(`${name} are not loaded: await the load of the strategy first`)
      return loaded
    },
  }
}
