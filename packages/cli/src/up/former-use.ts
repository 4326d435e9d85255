import { compareVersions } from '../local/compare-versions.ts'
import type { ServerRecord } from '../local/server-record.ts'

/** What people should know of how a data directory was used the last time, where that was otherwise than now. */
export function changesOfUse(former: ServerRecord | undefined, now: ServerRecord): readonly string[] {
  if (former === undefined) return []
  const notes: string[] = []
  if (former.store !== now.store) {
    notes.push(`objects were kept ${places[former.store]} the last time, and are kept ${places[now.store]} now`)
  }
  if (compareVersions(former.version, now.version) > 0) {
    notes.push(`was last used by version ${former.version}, which is newer than this one, ${now.version}`)
  }
  return notes
}

const places: Readonly<Record<ServerRecord['store'], string>> = {
  disk: 'on disk',
  memory: 'in memory',
  etcd: 'in an etcd',
}
