import type { ChildProcess, IOType } from 'node:child_process'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { Command } from './command.ts'
import { viewUser } from './container-commands.ts'
import { closeInput, hasInput, openInput } from './container-streams.ts'
import { stopSignalOf } from './held-container.ts'
import { launch } from './launch.ts'
import { startLogWriter } from './log-writer.ts'
import { asItsUser } from './process-user.ts'
import type { ContainerRecord, RecordStore } from './record-store.ts'
import { shimScript } from './shim.ts'
import { onTerminal } from './terminal.ts'
import { beforeShim, viewReport, viewReportFd } from './view/enter-view.ts'

/** The process that a container was started as: a shim, which leads its session and group. */
export interface StartedShim {
  readonly child: ChildProcess
  readonly pid: number
  /** Keeps the container's input open; see `HeldContainer`. */
  readonly inputHolderFd: number | undefined
  /** Resolves when all output is in the log; undefined where it goes there without a writer. */
  readonly logWritten: Promise<void> | undefined
  /** Resolves when the container has its view, or with why it has none; undefined where it is to have none. */
  readonly beginning: Promise<string | undefined> | undefined
}

/**
 * Starts a container's command under a shim. Its output goes through the named pipe `outputPipe` to a log writer, or straight to the log
 * where there is none. Throws where this host starts no more processes.
 */
export function startShim(
  { id, logPath, config, view, user }: ContainerRecord,
  command: Command,
  outputPipe: string | undefined,
  records: RecordStore,
): StartedShim {
  const log = openSync(logPath, 'a', 0o600)
  const input = hasInput(config) ? openInput(records.inputPath(id), config) : undefined
  let output = log
  let logWritten: Promise<void> | undefined
  try {
    if (outputPipe !== undefined) {
      const writer = startLogWriter(outputPipe, log, records.logWriterPath(id))
      output = writer.outputFd
      logWritten = writer.end
    }
    // The user may want to open output and input again by name, as /dev/stdout.
    if (command.user !== undefined) {
      const { uid, gid } = command.user
      for (const handle of input === undefined ? [output] : [output, input.childFd]) fchownSync(handle, uid, gid)
    }
    const files = [records.identityPath(id), records.exitPath(id)]
    const shim = ['-c', shimScript, 'coracle-shim', ...files, String(stopSignalOf(config))]
    const launched = config.tty === true ? onTerminal(command, records.terminalPath(id)) : asItsUser(command)
    const argv = [...(view === undefined ? [] : beforeShim(viewUser(user))), '/bin/sh', ...shim, ...launched.argv]
    const stdio: (IOType | number)[] = [input?.childFd ?? 'ignore', output, 'ignore', output]
    if (view !== undefined) stdio.push('pipe')
    const child = launch({ ...launched, argv }, stdio)
    // Without a listener a failure would take the whole process down; it shows in the missing id.
    child.on('error', () => {})
    if (child.pid === undefined)
      throw new Error('failed to start container: this host starts no more processes or has no more descriptors')
    const report = child.stdio[viewReportFd]
    const beginning = report instanceof Readable ? viewReport(report) : undefined
    return { child, pid: child.pid, inputHolderFd: input?.holderFd, logWritten, beginning }
  } catch (error) {
    closeInput(input?.holderFd)
    throw error
  } finally {
    closeSync(log)
    if (output !== log) closeSync(output)
    if (input !== undefined) closeSync(input.childFd)
  }
}
