import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manifest } from './kubectl.ts'

/** Manifests in a directory of their own, for `kubectl -f`. */
export class ManifestFiles implements AsyncDisposable {
  readonly directory: string

  private constructor(directory: string) {
    this.directory = directory
  }

  static async create(): Promise<ManifestFiles> {
    return new ManifestFiles(await mkdtemp(join(tmpdir(), 'coracle-manifests-')))
  }

  /** Writes objects to a file, whose path it returns. */
  async write(name: string, ...objects: readonly object[]): Promise<string> {
    const path = join(this.directory, name)
    await writeFile(path, manifest(...objects))
    return path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true })
  }
}
