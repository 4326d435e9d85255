import { spawnSync } from 'node:child_process'

const found = new Set<string>()

/**
 * The first of these programs that is there and comes from util-linux. Others of its name, such as those of BSD and BusyBox, lack what is
 * needed of it here.
 */
export function utilLinuxProgram(paths: readonly string[]): string | undefined {
  return paths.find(isFromUtilLinux)
}

function isFromUtilLinux(path: string): boolean {
  if (found.has(path)) return true
  if (spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')) found.add(path)
  return found.has(path)
}
