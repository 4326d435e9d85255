import type { ConnectionFlags } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { editKubeconfigs } from '../../kubeconfig/edit-kubeconfig.ts'
import { kubeconfigFiles } from '../../kubeconfig/kubeconfig-files.ts'
import { setProperty, unsetProperty } from '../../kubeconfig/property.ts'

export interface ConfigSetFlags extends ConnectionFlags {
  readonly setRawBytes?: boolean
}

/** `coracle config set PROPERTY VALUE` */
export async function setConfig(host: Host, property: string, value: string, flags: ConfigSetFlags): Promise<void> {
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  await editKubeconfigs(files, (document) =>
    setProperty(document, property, value, { rawBytes: flags.setRawBytes === true }),
  )
  host.stdout.write(`Property ${JSON.stringify(property)} set.\n`)
}

/** `coracle config unset PROPERTY` */
export async function unsetConfig(host: Host, property: string, flags: ConnectionFlags): Promise<void> {
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  await editKubeconfigs(files, (document) => unsetProperty(document, property))
  host.stdout.write(`Property ${JSON.stringify(property)} unset.\n`)
}
