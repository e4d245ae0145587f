/** A fault that the person who ran the script can act on: its message is printed as it is, without a stack. */
export class Failure extends Error {
  name = 'Failure';
}
