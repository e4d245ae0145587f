import { describe, expect, it } from '@jest/globals';
import { Screen } from './screen.js';

function page(colours: 'some' | 'none', write: (screen: Screen) => void): string {
  let text = '';
  const paper = {
    write: (more: string) => {
      text += more;
    },
    hasColors: () => colours === 'some',
  };
  write(new Screen(paper));
  return text;
}

function everything(screen: Screen): void {
  const long = 'word '.repeat(60).trim();
  screen.heading('Title', long);
  screen.seen(1000, 'event', long);
  screen.met(long);
  screen.unmet(long, long);
  screen.row('name', 'value');
}

describe('Screen', () => {
  it('keeps to a hundred columns', () => {
    const lines = page('none', everything).split('\n');
    expect(lines.length).toBeGreaterThan(15);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('writes no escape sequence where there are no colours', () => {
    expect(page('none', everything)).not.toContain('\u001b');
    expect(page('some', everything)).toContain('\u001b');
  });

  it('leaves what is to be copied as it is', () => {
    const command = `kubectl patch ${'x'.repeat(120)}`;
    expect(page('none', (screen) => screen.verbatim([command])).split('\n')).toContain(command);
  });

  it('says what was expected and what was seen', () => {
    const text = page('none', (screen) => screen.unmet('two pods', 'one pod'));
    expect(text).toBe('   ✗ expected: two pods\n     seen:     one pod\n');
  });
});
