/** `npm run release:version -- 0.2.0`: gives the workspace and all its packages a version, and each of them the others in it. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const version = process.argv[2] ?? ''

if (/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
  setVersion('package.json')
  for (const name of readdirSync(join(root, 'packages'))) setVersion(`packages/${name}/package.json`)
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root, stdio: 'inherit' })
  console.log(`Everything is ${version} now. Give CHANGELOG.md its heading.`)
} else {
  console.error('usage: npm run release:version -- MAJOR.MINOR.PATCH')
  process.exitCode = 1
}

function setVersion(path: string): void {
  const file = join(root, path)
  const own = JSON.parse(readFileSync(file, 'utf8')) as { version: string; dependencies?: Record<string, string> }
  const dependencies = Object.entries(own.dependencies ?? {}).map(([name, range]) => [
    name,
    name.startsWith('@coracle/') ? version : range,
  ])
  const changed = { ...own, version, ...(own.dependencies && { dependencies: Object.fromEntries(dependencies) }) }
  writeFileSync(file, `${JSON.stringify(changed, null, 2)}\n`)
}
