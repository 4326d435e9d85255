import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

const run = promisify(execFile)

/** A package that is installed: its directory, and what its `package.json` says. */
interface Installed {
  readonly directory: string
  readonly manifest: { readonly name: string; readonly version: string }
}

/** A package that is packed already: its file, and what its `package.json` says. */
export interface Published {
  readonly file: string
  readonly manifest: Installed['manifest']
}

/**
 * A registry for npm on this machine, whose packages are those that a lock file names and that are installed, and those that are given to it:
 * what a test installs needs no network.
 */
export class LocalRegistry {
  readonly #server: Server
  readonly #packages: readonly (Installed | Published)[]
  readonly #directory = mkdtempSync(join(tmpdir(), 'registry-'))

  private constructor(root: string, published: readonly Published[]) {
    this.#packages = [...published, ...installedPackages(root)]
    this.#server = createServer(({ url = '/' }, response) => {
      this.#answer(decodeURIComponent(url.slice(1)), response).catch((error) => response.destroy(error))
    })
  }

  /** Serves what is installed at `root`, where `package-lock.json` is, and what is published beside it. */
  static async start(root: string, published: readonly Published[] = []): Promise<LocalRegistry> {
    const registry = new LocalRegistry(root, published)
    registry.#server.listen(0, '127.0.0.1')
    await once(registry.#server, 'listening')
    return registry
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #answer(path: string, response: ServerResponse): Promise<void> {
    const [, tarball] = /^tarballs\/(.*)\.tgz$/.exec(path) ?? []
    const packages = this.#packages.filter(({ manifest: { name, version } }) =>
      tarball === undefined ? name === path : `${name}/${version}` === tarball,
    )
    const [first] = packages
    if (first === undefined) response.writeHead(404).end('{}')
    else if (tarball !== undefined) response.end(await this.#pack(tarball, first))
    else response.end(JSON.stringify(this.#packument(path, packages)))
  }

  /** What a registry says of a package and its versions. */
  #packument(name: string, packages: readonly (Installed | Published)[]): object {
    const versions = packages.map(({ manifest }) => {
      const dist = { tarball: `${this.url}/tarballs/${name}/${manifest.version}.tgz` }
      return [manifest.version, { ...manifest, dist }] as const
    })
    return { name, 'dist-tags': { latest: versions[0]?.[0] }, versions: Object.fromEntries(versions) }
  }

  async #pack(path: string, installed: Installed | Published): Promise<Buffer> {
    if ('file' in installed) return readFileSync(installed.file)
    const { directory } = installed
    const copy = join(this.#directory, path)
    mkdirSync(copy, { recursive: true })
    cpSync(directory, join(copy, 'package'), { recursive: true })
    await run('tar', ['-cf', 'package.tar', '--exclude', 'package/node_modules', 'package'], { cwd: copy })
    // Nothing is sent far: to pack it well would take longer than all the rest.
    return gzipSync(readFileSync(join(copy, 'package.tar')), { level: 1 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Those at the top come first. */
function installedPackages(root: string): readonly Installed[] {
  const { packages }: { packages: Record<string, { link?: true }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path]) => join(root, path))
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map((directory) => ({ directory, manifest: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) }))
    .sort((a, b) => a.directory.length - b.directory.length)
}
