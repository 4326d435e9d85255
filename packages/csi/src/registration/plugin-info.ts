import type { Decoded } from '@coracle/environment/grpc'
import type { pluginInfo } from '../wire/messages.ts'

/** The type that drivers of volumes register as. */
const csiPlugin = 'CSIPlugin'

/** Why what registers at a socket is not taken, in the words of upstream's kubelet; undefined where it is. Pure. */
export function registrationProblem(
  { type, supportedVersions }: Decoded<typeof pluginInfo>,
  socket: string,
): string | undefined {
  if (type !== csiPlugin)
    return `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${socket}`
  const problem = versionsProblem(supportedVersions)
  return problem === undefined ? undefined : `RegisterPlugin error -- plugin validation failed with err: ${problem}`
}

/** Of all versions that a driver speaks one has to be 1.x. */
function versionsProblem(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return 'CSI driver reporting empty array for supported versions'
  const isSupported = versions.some((version) => /^v?1(\.\d+)*$/.test(version))
  return isSupported
    ? undefined
    : `none of the CSI versions ${JSON.stringify(versions)} reported by this driver are supported`
}
