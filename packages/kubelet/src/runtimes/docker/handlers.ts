import type { RuntimeHandler } from '../runtime.ts'
import type { InfoAnswer, RuntimeAnswer } from './answers.ts'

/** The version of the API that can ask for mounts that are read-only with all that is mounted below them. */
export const recursiveReadOnlyVersion = '1.44'

const featuresKey = 'org.opencontainers.runtime-spec.features'

/** The runtimes of an engine, as handlers: the default one is also that without a name. Users of their own pods do not get. */
export function runtimeHandlers({
  KernelVersion = '',
  DefaultRuntime,
  Runtimes,
}: InfoAnswer): readonly RuntimeHandler[] {
  const named = Object.entries(Runtimes ?? {}).map(([name, runtime]): RuntimeHandler => {
    const recursiveReadOnlyMounts = kernelCan(KernelVersion) && runtimeCan(runtime)
    return { name, features: { recursiveReadOnlyMounts, userNamespaces: false } }
  })
  const usual = named.find(({ name }) => name === DefaultRuntime)
  return usual === undefined ? named : [{ ...usual, name: '' }, ...named]
}

/** Linux 5.12 or later. */
function kernelCan(version: string): boolean {
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  return major > 5 || (major === 5 && minor >= 12)
}

function runtimeCan(runtime: RuntimeAnswer | null): boolean {
  try {
    const { mountOptions } = JSON.parse(runtime?.status?.[featuresKey] ?? '{}')
    return Array.isArray(mountOptions) && mountOptions.includes('rro')
  } catch {
    return false
  }
}
