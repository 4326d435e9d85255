/** The type that drivers of volumes register as. */
export const csiPlugin = 'CSIPlugin'

/** Why a driver of volumes that speaks these versions is not taken, in the words of upstream's kubelet: one has to be 1.x. Undefined where it is. Pure. */
export function versionsProblem(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return 'CSI driver reporting empty array for supported versions'
  const isSupported = versions.some((version) => /^v?1(\.\d+)*$/.test(version))
  return isSupported
    ? undefined
    : `none of the CSI versions ${JSON.stringify(versions)} reported by this driver are supported`
}
