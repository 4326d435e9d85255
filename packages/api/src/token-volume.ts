/** Where client libraries look for what they need to call the API. */
export const tokenMountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

/** What the names of volumes begin with that pods get for it, without having asked (upstream's ServiceAccount plugin). */
export const tokenVolumePrefix = 'kube-api-access-'

/** Whether a container has a volume there that its pod got for it. */
export const isTokenMount = (volumeName: string, mountPath: string): boolean =>
  mountPath === tokenMountPath && volumeName.startsWith(tokenVolumePrefix)
