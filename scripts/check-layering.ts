/**
 * Checks that every package imports only what the house allows it (docs/architecture.md), that it declares what it
 * imports, and that no relative import leaves its package.
 *
 * Run as a program it checks `packages/` and exits 1 with one line per breach.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const control = ['api', 'environment', 'client']

/** What each package may import of the others. A package that is not named here may not exist. */
export const allowedImports: Readonly<Record<string, readonly string[]>> = {
  api: [],
  environment: [],
  store: ['environment'],
  client: ['api', 'environment'],
  'controller-runtime': control,
  apiserver: ['api', 'environment', 'store', 'client'],
  controllers: [...control, 'controller-runtime'],
  scheduler: control,
  kubelet: control,
  proxy: control,
  dns: control,
  csi: control,
  why: control,
  cluster: [
    ...control,
    'store',
    'controller-runtime',
    'apiserver',
    'controllers',
    'scheduler',
    'kubelet',
    'proxy',
    'dns',
    'csi',
  ],
  simulator: [...control, 'store', 'cluster', 'proxy', 'why'],
  cli: [
    ...control,
    'store',
    'controller-runtime',
    'apiserver',
    'controllers',
    'scheduler',
    'kubelet',
    'cluster',
    'simulator',
    'why',
  ],
}

const scope = '@coracle/'
const importPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"]+)\1/g

/** One line per breach, in file order; empty when the layering holds. `root` is the directory that holds the packages. */
export function checkLayering(
  root: string,
  allowed: Readonly<Record<string, readonly string[]>> = allowedImports,
): string[] {
  const packages = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return packages.flatMap((entry) => checkPackage(root, entry.name, allowed[entry.name]))
}

function checkPackage(root: string, name: string, allowed: readonly string[] | undefined): string[] {
  if (allowed === undefined)
    return [`packages/${name}: has no place in the layering; give it one in scripts/check-layering.ts`]
  const directory = join(root, name)
  const manifest: unknown = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const declared = Object.keys((manifest as { dependencies?: Record<string, string> }).dependencies ?? {})
  const breaches = declared
    .filter((dependency) => dependency.startsWith(scope) && !allowed.includes(dependency.slice(scope.length)))
    .map((dependency) => `packages/${name}/package.json: declares ${dependency}, which ${name} may not import`)
  for (const file of sourceFiles(directory)) {
    const where = `packages/${relative(root, file)}`
    for (const specifier of importsOf(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) {
        if (relative(directory, resolve(dirname(file), specifier)).startsWith('..')) {
          breaches.push(`${where}: ${specifier} leaves the package; import it by its name`)
        }
        continue
      }
      if (!specifier.startsWith(scope)) continue
      const imported = specifier.slice(scope.length).split('/')[0] ?? ''
      if (imported !== name && !allowed.includes(imported))
        breaches.push(`${where}: ${name} may not import ${imported}`)
      else if (imported !== name && !declared.includes(scope + imported)) {
        breaches.push(`${where}: ${specifier} is not among the dependencies of packages/${name}/package.json`)
      }
    }
  }
  return breaches
}

function* sourceFiles(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* sourceFiles(path)
    else if (/\.[cm]?[jt]s$/.test(entry.name)) yield path
  }
}

function* importsOf(source: string): Generator<string> {
  for (const match of source.matchAll(importPattern)) yield match[2] as string
}

if (import.meta.main) {
  const breaches = checkLayering(join(import.meta.dirname, '..', 'packages'))
  for (const breach of breaches) console.error(breach)
  if (breaches.length > 0) process.exit(1)
  console.log(`layering: ${Object.keys(allowedImports).length} packages import only what they may`)
}
