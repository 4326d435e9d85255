type Version = readonly [major: number, minor: number]

/** The first versions that mount images as volumes, and parts of images. Of runtimes that are not named here it is not known: they are asked to. */
const firstVersions: Readonly<Record<string, { readonly images: Version; readonly parts: Version }>> = {
  containerd: { images: [2, 1], parts: [2, 2] },
  'cri-o': { images: [1, 31], parts: [1, 33] },
}

/**
 * Why a runtime mounts no images as volumes, or no part of one (`path`); undefined where it may. An old one passes over what it is asked for: it
 * complains of what is left of it, or mounts all of the image.
 */
export function lackOfImageVolumes(name: string, version: string, path = ''): string | undefined {
  const { images, parts } = firstVersions[name] ?? {}
  const [, major, minor] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (images === undefined || parts === undefined || major === undefined || minor === undefined) return undefined
  const isOlder = ([firstMajor, firstMinor]: Version) =>
    major < firstMajor || (major === firstMajor && minor < firstMinor)
  const lack = (what: string, first: Version) =>
    `${name} ${version} mounts no ${what} as volumes: that takes ${first.join('.')} or later`
  if (isOlder(images)) return lack('images', images)
  return path !== '' && isOlder(parts) ? lack('parts of images (subPath)', parts) : undefined
}
