/** The first versions that mount images as volumes. Of runtimes that are not named here it is not known: they are asked to. */
const firstVersions: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  containerd: [2, 1],
  'cri-o': [1, 31],
}

/**
 * Why a runtime mounts no images as volumes; undefined where it may. An old one passes over what it is asked for, and complains of what is
 * left of it.
 */
export function lackOfImageVolumes(name: string, version: string): string | undefined {
  const first = firstVersions[name]
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (first === undefined || major === undefined || minor === undefined) return undefined
  const isNewEnough = Number(major) > first[0] || (Number(major) === first[0] && Number(minor) >= first[1])
  return isNewEnough
    ? undefined
    : `${name} ${version} mounts no images as volumes: that takes ${first.join('.')} or later`
}
