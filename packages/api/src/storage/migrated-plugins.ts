import type { PersistentVolumeSpec } from '../kinds/core/persistent-volume/schema.ts'
import type { Volume } from '../kinds/core/pod/volume.ts'

/** What was built in once, and the CSI driver that has taken over from it. */
interface MigratedPlugin {
  /** The field that a volume of it has. */
  readonly source: keyof Volume & keyof PersistentVolumeSpec
  /** How storage classes name it. */
  readonly provisioner: string
  readonly driver: string
}

/** Those of upstream's csi-translation-lib. */
const migratedPlugins: readonly MigratedPlugin[] = [
  { source: 'awsElasticBlockStore', provisioner: 'kubernetes.io/aws-ebs', driver: 'ebs.csi.aws.com' },
  { source: 'azureDisk', provisioner: 'kubernetes.io/azure-disk', driver: 'disk.csi.azure.com' },
  { source: 'azureFile', provisioner: 'kubernetes.io/azure-file', driver: 'file.csi.azure.com' },
  { source: 'cinder', provisioner: 'kubernetes.io/cinder', driver: 'cinder.csi.openstack.org' },
  { source: 'gcePersistentDisk', provisioner: 'kubernetes.io/gce-pd', driver: 'pd.csi.storage.gke.io' },
  { source: 'portworxVolume', provisioner: 'kubernetes.io/portworx-volume', driver: 'pxd.portworx.com' },
  { source: 'vsphereVolume', provisioner: 'kubernetes.io/vsphere-volume', driver: 'csi.vsphere.vmware.com' },
]

const driversByProvisioner: ReadonlyMap<string, string> = new Map(
  migratedPlugins.map(({ provisioner, driver }) => [provisioner, driver]),
)

/** The CSI driver that makes volumes for a provisioner that was built in once; undefined for any other. */
export const driverOfProvisioner = (provisioner: string): string | undefined => driversByProvisioner.get(provisioner)

/** The CSI driver of a volume, of a pod's own or of a persistent one: it names it, or it has taken over from what it names. */
export const driverOfVolume = (volume: Volume | PersistentVolumeSpec): string | undefined =>
  volume.csi?.driver ?? migratedPlugins.find(({ source }) => volume[source] !== undefined)?.driver
