import type { Clock } from '@coracle/environment'
import type { AdmissionPlugin } from './admission.ts'

/** A plugin of which nothing is loaded before it first has to judge: few servers use it. */
export function loadedWhenUsed(
  name: string,
  loadAll: () => Promise<readonly AdmissionPlugin[]>,
  clock: Clock,
): AdmissionPlugin {
  let loading: Promise<AdmissionPlugin> | undefined
  const load = async (): Promise<AdmissionPlugin> => {
    const plugin = (await loadAll()).find((each) => each.name === name)
    if (plugin === undefined) throw new Error(`there is no admission plugin ${name} to load`)
    return plugin
  }
  const loaded = (): Promise<AdmissionPlugin> => {
    // Time stands still meanwhile where it is virtual.
    loading ??= clock.hold(load())
    return loading
  }
  return {
    name,
    mutate: async (attributes, object, reinvocation) => {
      const plugin = await loaded()
      return plugin.mutate === undefined ? object : plugin.mutate(attributes, object, reinvocation)
    },
    validate: async (attributes, object) => (await loaded()).validate?.(attributes, object),
  }
}
