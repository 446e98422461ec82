"""The completions of a line by the real shells, with the scripts as they are installed."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pexpect

from harness import ROOT, RPCURL

COMPLETIONS = ROOT / "completions"


@dataclass
class Shell:
    """A shell without the user's settings, in a directory of its own."""

    directory: Path

    def environment(self):
        return {
            "PATH": f"{RPCURL.resolve().parent}:{os.environ['PATH']}", "HOME": str(self.directory),
            "XDG_CACHE_HOME": str(self.directory / "cache"), "LC_ALL": "C.UTF-8", "TERM": "xterm", "COLUMNS": "200",
        }  # fmt: skip

    def run(self, *command, input=None):
        done = subprocess.run(
            command, input=input, capture_output=True, text=True, cwd=self.directory, env=self.environment(), timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout

    def spawn(self, *command):
        return pexpect.spawn(
            command[0], list(command[1:]), cwd=str(self.directory), env=self.environment(), encoding="utf-8",
            timeout=60, dimensions=(50, 200),
        )  # fmt: skip

    def start(self):
        """An interactive shell that prints its line as `<<LINE>>` for control-X p, and empties it."""
        raise NotImplementedError

    def typed(self, line, tabs=1):
        """The line after TAB in an interactive shell, and the text that was shown."""
        ((result, shown),) = self.all_typed([line], tabs)
        return result, shown

    def all_typed(self, lines, tabs=1):
        """The same for several lines, one after the other in one shell."""
        shell = self.start()
        typed = []
        for line in lines:
            # The shell handles keys in their order, so it prints the line after it has completed it.
            shell.send(line + "\t" * tabs + "\x18p")
            shell.expect(r"<<(.*)>>\r\n")
            typed.append((shell.match[1], re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shell.before)))
        shell.close(force=True)
        return typed


@dataclass
class Bash(Shell):
    # The characters that end a word for readline.
    breaks: str = " \t\n\"'@><=;|&(:"
    # Whether the package bash-completion is loaded.
    package: bool = False

    def candidates(self, line, behind=""):
        """The replies of the completion function, called as bash does: replacements of the text after the last word break."""
        words, current = self.words(line)
        script = f"""
            source {COMPLETIONS / 'rpcurl.bash'}
            COMP_WORDBREAKS=$1 COMP_LINE=$2$3 COMP_POINT=${{#2}} COMP_CWORD=$4 current=$5
            shift 5
            COMP_WORDS=("$@")
            _rpcurl rpcurl "$current" x
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        out = self.run(
            "bash", "--norc", "-c", script, "bash", self.breaks, line, behind, str(len(words) - 1), current, *words
        )
        return sorted(filter(None, out.split("\n")))

    def words(self, line):
        """As readline splits them; near enough, as the function reads the line itself."""
        kept = "".join(c for c in self.breaks if not c.isspace() and c not in "\"'")
        words = [w for w in re.split(rf"\s+|([{re.escape(kept)}]+)", line) if w] if kept else line.split()
        if line[-1].isspace():
            words.append("")
        return words, words[-1]

    def start(self):
        shell = self.spawn("bash", "--norc", "--noprofile", "-i")
        shell.sendline(
            "PS1='re''ady> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set page-completions off'"
        )
        shell.expect("ready> ")
        if self.package:
            shell.sendline("source /usr/share/bash-completion/bash_completion; PS1='pack''age> '")
            shell.expect("package> ")
        shell.sendline(f"source {COMPLETIONS / 'rpcurl.bash'}; PS1='lo''aded> '")
        shell.expect("loaded> ")
        shell.sendline("show() { printf '\\n<<%s>>\\n' \"$READLINE_LINE\"; READLINE_LINE=; }; bind -x '\"\\C-xp\": show'; PS1='bo''und> '")
        shell.expect("bound> ")
        return shell


class Zsh(Shell):
    SETUP = """
        fpath=({completions} $fpath)
        autoload -Uz compinit && compinit -D -u
        setopt no_beep; unsetopt prompt_sp zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste
        LISTMAX=10000
        zstyle ':completion:*' list-prompt ''
        show() {{ print -r -- $'\\n'"<<$BUFFER>>"; BUFFER= }}
        zle -N show; bindkey '^Xp' show; bindkey '^I' complete-word
        PS1='rea''dy> '
    """

    # A file with the script that is read, instead of the one that is installed.
    script: str = ""

    def start(self):
        setup = self.directory / "setup.zsh"
        where = "" if self.script else COMPLETIONS
        setup.write_text(self.SETUP.format(completions=where) + (f"source {self.script}" if self.script else ""))
        shell = self.spawn("zsh", "-f", "-i")
        shell.sendline("source ./setup.zsh")
        shell.expect("ready> ")
        return shell


class Fish(Shell):
    def candidates(self, line):
        """Candidates with their descriptions."""
        out = self.run(
            "fish", "--no-config", "-c", f"source {COMPLETIONS / 'rpcurl.fish'}; complete -C $argv[1]", line
        )
        return dict((l.split("\t") + [""])[:2] for l in out.splitlines())

    def start(self):
        setup = self.directory / "setup.fish"
        setup.write_text(f"""
            source {COMPLETIONS / 'rpcurl.fish'}
            function fish_prompt; echo 'rea''dy> '; end
            function show; printf '\\n<<%s>>\\n' (commandline); commandline ''; end
            bind \\cxp show
        """)
        shell = self.spawn("fish", "--no-config", "-i")
        shell.sendline("source ./setup.fish; echo se''tup")
        shell.expect("setup\r\n")
        shell.expect("ready> ")
        return shell
