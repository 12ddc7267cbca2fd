"""Tasks of Harbor in real containers, of docker or podman; skipped by name where neither runs one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from strategies.rollouts.run.graders import rewarded
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.sanity import check_task
from strategies.rollouts.run.task_container import end_containers, running, write_start
from strategies.rollouts.tasks.load import load_tasks
from strategies.rollouts.tasks.task import HarborGrader
from strategies.sandbox.container_program import working_program
from tests.confining import POLICY
from tests.harbor_folders import harbor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.rollouts.tasks.task import RolloutTask

BASE: Final = "germline-test-base"
PROGRAMS: Final = ("bash", "sh", "cat", "chmod", "ln", "mkdir", "sleep")
"""What the image of the tests holds, taken from this machine: no registry of images need be reached."""
ENGINE: Final = '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "{runtime}"\n'
ULIMITS: Final = '[containers]\ndefault_ulimits = ["nofile=20000:20000", "nproc=1000:1000"]\n'
STORAGE: Final = '[storage]\ndriver = "vfs"\ngraphroot = "{place}/graph"\nrunroot = "{place}/run"\n'
DOCKERFILE: Final = (
    f"FROM {BASE}\nWORKDIR /desk\nCOPY data/word.txt .\nRUN echo made > made.txt; ln -s /desk/made.txt link.txt\n"
    "RUN mkdir /tool; echo tool > /tool/kept; chmod -R a+rwX /tool\nUSER 1234\n"
)
CHECK: Final = (
    'cd /desk\nleft="$(cat out.txt) $(cat link.txt) $(cat /tool/kept) $OWN"\n'
    'if [ "$left" = "forty-two made tool o" ] && [ ! -e gone.txt ]\n'
    "then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n(sleep 60; echo) &\n"
)
SETTINGS: Final = (
    '[environment]\nallow_internet = false\nmemory = "256M"\ncpus = 1\n[verifier]\nenv = { OWN = "o" }\n'
)


def image(folder: Path) -> Path:
    """Pack programs of this machine with their libraries."""
    packed = folder / "base.tar"
    places = {f"/bin/{program}": os.path.realpath(shutil.which(program) or program) for program in PROGRAMS}
    needed = subprocess.run(["ldd", *places.values()], capture_output=True, text=True, check=False).stdout
    places |= {library: os.path.realpath(library) for library in re.findall(r"(/\S+) \(0x", needed)}
    with tarfile.open(packed, "w") as archive:
        for name, place in places.items():
            archive.add(place, arcname=name)
    return packed


@pytest.fixture(scope="module")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a docker or podman that runs containers, with an image of a shell; podman keeps all of it aside."""
    place = tmp_path_factory.mktemp("containers")
    runtime = next(filter(shutil.which, ("runc", "crun")), "runc")
    (place / "containers.conf").write_text(ULIMITS + ENGINE.format(runtime=runtime))
    (place / "storage.conf").write_text(STORAGE.format(place=place))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTAINERS_CONF", str(place / "containers.conf"))
        patch.setenv("CONTAINERS_STORAGE_CONF", str(place / "storage.conf"))
        program = working_program()
        if not program:
            pytest.skip("neither docker nor podman works here")
        runs = ("run", "--rm", "--network", "none", BASE, "sh", "-c", ":")
        for words in (("import", str(image(place)), BASE), runs):
            ran = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
            if ran.returncode:
                pytest.skip(f"{program} makes no containers here: {ran.stderr.strip()[-200:]}")
        yield program
        end_containers()
        subprocess.run([program, "rmi", "--force", BASE], capture_output=True, check=False)


def kept(program: str, *words: str) -> list[str]:
    ran = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return [name for name in ran.stdout.split() if "germline-" in name and BASE not in name]


def judged(task: RolloutTask, folder: Path) -> float:
    (grader,) = task.graders
    assert isinstance(grader, HarborGrader)
    return rewarded(grader, AgentWork(task, folder, "", POLICY)).value


def test_a_task_is_built_proven_solved_and_judged_in_containers_and_nothing_of_them_stays(
    docker: str, tmp_path: Path
) -> None:
    folder = harbor(
        tmp_path / "set",
        "a-task",
        environment__Dockerfile=DOCKERFILE,
        tests__test_dot_sh=CHECK,
        solution__solve_dot_sh="cat /desk/word.txt >/desk/out.txt\necho elsewhere >/tool/kept\n",
        task_dot_toml=SETTINGS,
    )
    (task,) = load_tasks(folder, containers=partial(str, Path(docker).name)).tasks
    assert check_task(task, POLICY) == ()
    begun = tmp_path / "begun"
    begun.mkdir()
    write_start(task, begun)
    (begun / "gone.txt").write_text("")
    with running(task, {begun: "."}, limit_s=30) as container:
        reaching = "cat word.txt >out.txt; (: </dev/tcp/192.0.2.1/80) 2>&1; exit 3"
        made = container.run(("bash", "-c", reaching), limit_s=20)
        late = container.run(("sleep", "60"), limit_s=0.5)
        after = container.run(("sh", "-c", "echo still here"), limit_s=20)
        assert len(kept(docker, "ps", "--format", "{{.Names}}")) == 1
    assert (made.code, late.ended, after.stdout) == (3, "limit", "still here\n")
    assert "Network is unreachable" in made.stdout
    assert judged(task, begun) == 0.0, "a file that was there too many is seen"
    assert kept(docker, "ps", "--all", "--format", "{{.Names}}") == []
    assert len(kept(docker, "images", "--format", "{{.Repository}}:{{.Tag}}")) == 1
    end_containers()
    assert kept(docker, "images", "--format", "{{.Repository}}:{{.Tag}}") == []
