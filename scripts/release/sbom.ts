import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface BillOfMaterials {
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

interface LockFile {
  readonly packages: Readonly<Record<string, { name?: string; version?: string; dev?: true }>>
}

/**
 * A software bill of materials (CycloneDX) of all that is installed with the packages, on whichever platform. npm makes it; what is
 * for development alone is taken out by what the lock file says, because `--omit=dev` of npm takes out whatever something for
 * development needs as well.
 */
export function sbom(root: string): string {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application', '--loglevel=error']
  const text = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return JSON.stringify(withoutDevelopment(JSON.parse(text), lock), null, 2)
}

/** The bill without the components that a lock file marks as needed for development alone. */
export function withoutDevelopment<B extends BillOfMaterials>(bill: B, { packages }: LockFile): B {
  const installed = Object.entries(packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, { name, version }]) => `${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`)
  const kept = new Set(installed)
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ dependsOn = [], ...rest }) => ({ ...rest, dependsOn: dependsOn.filter((ref) => kept.has(ref)) }))
  return { ...bill, components: bill.components.filter((component) => kept.has(component['bom-ref'])), dependencies }
}
