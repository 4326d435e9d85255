/*
 * A program that waits for ever, as a Linux executable of a few hundred bytes: what a sandbox needs to be there. It ignores its children, so that
 * the kernel takes away what processes of a pod with shared processes leave behind. It is written here as machine code so that nothing has to be
 * compiled, shipped or pulled.
 */

/** SIGCHLD, and the size of a set of signals, which the kernel wants to know. */
const [sigchld, signalSetBytes] = [17, 8]
/** Where the program is in memory. */
const base = 0x400000
const [elfHeaderBytes, programHeaderBytes] = [64, 56]
const codeOffset = elfHeaderBytes + programHeaderBytes

/** `struct sigaction` of the kernel: SIG_IGN, no flags, no restorer, no mask. */
function ignoringAction(): Buffer {
  const action = Buffer.alloc(32)
  action.writeUInt8(1)
  return action
}

/** rt_sigaction(SIGCHLD, action, NULL, 8); for (;;) pause(); */
function codeOfX64(): Buffer {
  const [rtSigaction, pause] = [13, 34]
  const before = Buffer.from([0xb8, rtSigaction, 0, 0, 0, 0xbf, sigchld, 0, 0, 0])
  const after = Buffer.from([
    ...[0x31, 0xd2], // xor edx, edx
    ...[0x41, 0xba, signalSetBytes, 0, 0, 0], // mov r10d, 8
    ...[0x0f, 0x05], // syscall
    ...[0xb8, pause, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7], // again: mov eax, pause; syscall; jmp again
  ])
  const lea = Buffer.from([0x48, 0x8d, 0x35, 0, 0, 0, 0]) // lea rsi, [rip + after]
  lea.writeInt32LE(after.length, 3)
  return Buffer.concat([before, lea, after, ignoringAction()])
}

/** rt_sigaction(SIGCHLD, action, NULL, 8); for (;;) ppoll(NULL, 0, NULL, NULL): there is no pause. */
function codeOfArm64(): Buffer {
  const [rtSigaction, ppoll] = [134, 73]
  const move = (register: number, value: number) => 0xd2800000 + value * 32 + register
  const call = 0xd4000001
  const words = [
    move(0, sigchld),
    0, // adr x1, action: below
    move(2, 0),
    move(3, signalSetBytes),
    move(8, rtSigaction),
    call,
    ...[move(0, 0), move(1, 0), move(2, 0), move(3, 0), move(8, ppoll), call],
    0x17fffffa, // b: six back
  ]
  words[1] = 0x10000000 + (words.length - 1) * 32 + 1
  const code = Buffer.alloc(words.length * 4)
  for (const [index, word] of words.entries()) code.writeUInt32LE(word, index * 4)
  return Buffer.concat([code, ignoringAction()])
}

/** Machines of ELF, by what Node.js calls them. */
const machines: Readonly<Record<string, readonly [elfMachine: number, code: () => Buffer]>> = {
  x64: [62, codeOfX64],
  arm64: [183, codeOfArm64],
}

/** The program for a machine, as `process.arch` names it; undefined where there is none. */
export function pauseProgram(arch: string): Buffer | undefined {
  const machine = machines[arch]
  if (machine === undefined) return undefined
  const [elfMachine, codeOf] = machine
  const code = codeOf()
  const header = Buffer.alloc(codeOffset)
  // 64 bits, little-endian, version 1; then an executable, with one segment that is all of the file.
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(elfMachine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(BigInt(base + codeOffset), 24)
  header.writeBigUInt64LE(BigInt(elfHeaderBytes), 32)
  header.writeUInt16LE(elfHeaderBytes, 52)
  header.writeUInt16LE(programHeaderBytes, 54)
  header.writeUInt16LE(1, 56)
  const [load, readAndExecute, pageBytes] = [1, 5, 0x1000]
  header.writeUInt32LE(load, 64)
  header.writeUInt32LE(readAndExecute, 68)
  header.writeBigUInt64LE(BigInt(base), 80)
  header.writeBigUInt64LE(BigInt(base), 88)
  header.writeBigUInt64LE(BigInt(codeOffset + code.length), 96)
  header.writeBigUInt64LE(BigInt(codeOffset + code.length), 104)
  header.writeBigUInt64LE(BigInt(pageBytes), 112)
  return Buffer.concat([header, code])
}
