import type { Volume } from '@coracle/api'

/** Names of upstream's plugins, by the field of a volume that asks for one. Claims are here directories of their node. */
const plugins: Readonly<Record<string, string>> = {
  configMap: 'configmap',
  csi: 'csi',
  downwardAPI: 'downward-api',
  emptyDir: 'empty-dir',
  ephemeral: 'local-volume',
  hostPath: 'host-path',
  image: 'image',
  nfs: 'nfs',
  persistentVolumeClaim: 'local-volume',
  projected: 'projected',
  secret: 'secret',
}

/** The plugin that a volume needs, as metrics of volumes name it. */
export function volumePlugin(volume: Volume): string {
  const source = Object.keys(volume).find((field) => field in plugins)
  return `kubernetes.io/${source === undefined ? 'other' : plugins[source]}`
}
