import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Where the volumes of drivers are on a node: at upstream's paths below its root directory. */
export interface VolumePlaces {
  /** Where drivers register, and staged volumes are. */
  readonly rootDirectory: string
  /** Where volumes of pods are. */
  readonly podsDirectory: string
}

/** What is a mount lies below the directory that is about it. */
export const globalMount = (directory: string): string => join(directory, 'globalmount')
export const podMount = (directory: string): string => join(directory, 'mount')

/** The directory about a volume that is staged for all pods of the node. */
export const stageDirectory = ({ rootDirectory }: VolumePlaces, driver: string, handle: string): string =>
  join(rootDirectory, 'plugins/kubernetes.io/csi', driver, createHash('sha256').update(handle).digest('hex'))

/** The directory about all volumes of drivers that a pod has. */
export const podVolumesDirectory = ({ podsDirectory }: VolumePlaces, podUid: string): string =>
  join(podsDirectory, podUid, 'volumes/kubernetes.io~csi')
