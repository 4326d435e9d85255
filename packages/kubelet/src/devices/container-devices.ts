import type { Logger } from '@coracle/environment'
import type { DeviceFile } from '../runtimes/runtime.ts'
import type { AllocatedParts } from './device-plugin.ts'
import type { ContainerDevices } from './node-devices.ts'

/** What a container is given for the devices of several resources: of what two plugins say differently the first counts, and that is logged. */
export function containerDevices(all: readonly AllocatedParts[], logger: Logger): ContainerDevices {
  const said = new Set<string>()
  const unique = <T>(
    items: readonly T[],
    nameOf: (item: T) => string,
    meaningOf: (item: T) => string,
  ): readonly T[] => {
    const first = new Map<string, T>()
    for (const item of items) {
      const before = first.get(nameOf(item))
      if (before === undefined) first.set(nameOf(item), item)
      else if (meaningOf(before) !== meaningOf(item)) said.add(nameOf(item))
    }
    return [...first.values()]
  }
  const entries = (maps: readonly Readonly<Record<string, string>>[]) =>
    unique(
      maps.flatMap((map) => Object.entries(map)),
      ([name]) => name,
      ([, value]) => value,
    )
  const pathsOf = { key: (each: DevicePath) => each.containerPath, value: (each: DevicePath) => each.hostPath }
  const mounts = unique(
    all.flatMap((each) => each.mounts),
    pathsOf.key,
    pathsOf.value,
  )
  const files: readonly DeviceFile[] = unique(
    all.flatMap((each) => each.devices),
    pathsOf.key,
    pathsOf.value,
  )
  const devices: ContainerDevices = {
    env: entries(all.map(({ envs }) => envs)).map(([name, value]) => ({ name, value })),
    mounts: mounts.map(({ containerPath, hostPath, readOnly }) => ({
      name: containerPath,
      containerPath,
      hostPath,
      ...(readOnly ? { readOnly } : {}),
    })),
    files,
    annotations: Object.fromEntries(entries(all.map(({ annotations }) => annotations))),
    cdiNames: [...new Set(all.flatMap(({ cdiDevices }) => cdiDevices.map(({ name }) => name)))],
  }
  if (said.size > 0) logger.error('device plugins disagree about a container', { about: [...said].join(', ') })
  return devices
}

interface DevicePath {
  readonly containerPath: string
  readonly hostPath: string
}
