import { type Clock, LoadOnce } from '@coracle/environment'
import type { AdmissionPlugin } from './admission.ts'

/** A plugin of which nothing is loaded before it first has to judge: few servers use it. */
export function loadedWhenUsed(
  name: string,
  loadAll: () => Promise<readonly AdmissionPlugin[]>,
  clock: Clock,
): AdmissionPlugin {
  const load = async (): Promise<AdmissionPlugin> => {
    const plugin = (await loadAll()).find((each) => each.name === name)
    if (plugin === undefined) throw new Error(`there is no admission plugin ${name} to load`)
    return plugin
  }
  // Time stands still meanwhile where it is virtual.
  const loaded = new LoadOnce(() => clock.hold(load()))
  return {
    name,
    mutate: async (attributes, object, reinvocation) => {
      const plugin = await loaded.get()
      return plugin.mutate === undefined ? object : plugin.mutate(attributes, object, reinvocation)
    },
    validate: async (attributes, object) => (await loaded.get()).validate?.(attributes, object),
  }
}
